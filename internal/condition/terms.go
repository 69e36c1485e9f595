package condition

import (
	"slices"

	"github.com/idelchi/aura/sdk"
)

// Term is one word of the vocabulary, as documentation and completion show it.
type Term struct {
	Name     string  // For example "history_gt".
	Argument string  // What follows the colon, for example "<N>"; empty if the term takes none.
	Meaning  string  // When the term is true, in one line.
	Values   []Value // The closed list of arguments, where there is one.
}

// Value is one of the arguments a term accepts.
type Value struct{ Name, Meaning string }

// argument says what a term takes after its colon.
type argument int

const (
	none    argument = iota
	whole            // a whole number
	decimal          // a number, with or without a fraction
	choice           // one of Term.Values
	text             // any text that is not blank
)

// term is a row of the table: what is documented, what is parsed, and how it
// is evaluated. Exactly one of the functions is set, except for shell terms.
type term struct {
	Term
	arg   argument
	model bool // Reads facts about the model, which may be unresolved.

	is    func(c *sdk.Context) bool
	above func(c *sdk.Context) float64 // True if the number is greater than the argument.
	below func(c *sdk.Context) float64 // True if the number is less than the argument.
	match func(c *sdk.Context, value string) bool
	shell bool
}

// table is the whole vocabulary. Parser, evaluator and documentation read it.
var table = [...]term{
	{Term: Term{Name: "todo_empty", Meaning: "the todo list has no items"},
		is: func(c *sdk.Context) bool { return c.TodoTotal == 0 }},
	{Term: Term{Name: "todo_done", Meaning: "the todo list has items and all are completed"},
		is: func(c *sdk.Context) bool { return c.TodoTotal > 0 && c.TodoPending+c.TodoInProgress == 0 }},
	{Term: Term{Name: "todo_pending", Meaning: "pending or in-progress todo items exist"},
		is: func(c *sdk.Context) bool { return c.TodoPending+c.TodoInProgress > 0 }},
	{Term: Term{Name: "auto", Meaning: "auto mode is on"},
		is: func(c *sdk.Context) bool { return c.Auto }},

	{Term: Term{Name: "context_above", Argument: "<N>", Meaning: "more than N percent of the context window is used"},
		arg: decimal, above: contextPercent},
	{Term: Term{Name: "context_below", Argument: "<N>", Meaning: "less than N percent of the context window is used"},
		arg: decimal, below: contextPercent},
	{Term: Term{Name: "history_gt", Argument: "<N>", Meaning: "the history has more than N messages"},
		arg: whole, above: history},
	{Term: Term{Name: "history_lt", Argument: "<N>", Meaning: "the history has fewer than N messages"},
		arg: whole, below: history},
	{Term: Term{Name: "tool_errors_gt", Argument: "<N>", Meaning: "more than N tool calls failed in this session"},
		arg: whole, above: toolErrors},
	{Term: Term{Name: "tool_errors_lt", Argument: "<N>", Meaning: "fewer than N tool calls failed in this session"},
		arg: whole, below: toolErrors},
	{Term: Term{Name: "tool_calls_gt", Argument: "<N>", Meaning: "more than N tools were called in this session"},
		arg: whole, above: toolCalls},
	{Term: Term{Name: "tool_calls_lt", Argument: "<N>", Meaning: "fewer than N tools were called in this session"},
		arg: whole, below: toolCalls},
	{Term: Term{Name: "turns_gt", Argument: "<N>", Meaning: "more than N inputs were sent to the model"},
		arg: whole, above: turns},
	{Term: Term{Name: "turns_lt", Argument: "<N>", Meaning: "fewer than N inputs were sent to the model"},
		arg: whole, below: turns},
	{Term: Term{Name: "compactions_gt", Argument: "<N>", Meaning: "the history was compacted more than N times"},
		arg: whole, above: compactions},
	{Term: Term{Name: "compactions_lt", Argument: "<N>", Meaning: "the history was compacted fewer than N times"},
		arg: whole, below: compactions},
	{
		Term: Term{
			Name:     "iteration_gt",
			Argument: "<N>",
			Meaning:  "the model call of this turn has a number above N; 0 outside a turn",
		},
		arg:   whole,
		above: iteration,
	},
	{
		Term: Term{
			Name:     "iteration_lt",
			Argument: "<N>",
			Meaning:  "the model call of this turn has a number below N; 0 outside a turn",
		},
		arg:   whole,
		below: iteration,
	},
	{Term: Term{Name: "tokens_total_gt", Argument: "<N>", Meaning: "more than N tokens were used so far, in and out"},
		arg: whole, above: tokensTotal},
	{Term: Term{Name: "tokens_total_lt", Argument: "<N>", Meaning: "fewer than N tokens were used so far, in and out"},
		arg: whole, below: tokensTotal},

	{
		Term: Term{
			Name:     "model_context_gt",
			Argument: "<N>",
			Meaning:  "the model's context window is larger than N tokens",
		},
		arg:   whole,
		model: true,
		above: modelContext,
	},
	{
		Term: Term{
			Name:     "model_context_lt",
			Argument: "<N>",
			Meaning:  "the model's context window is smaller than N tokens",
		},
		arg:   whole,
		model: true,
		below: modelContext,
	},
	{
		Term: Term{
			Name:     "model_params_gt",
			Argument: "<N>",
			Meaning:  "the model has more than N billion parameters, for example 0.5",
		},
		arg:   decimal,
		model: true,
		above: modelParams,
	},
	{
		Term: Term{
			Name:     "model_params_lt",
			Argument: "<N>",
			Meaning:  "the model has fewer than N billion parameters, for example 0.5",
		},
		arg:   decimal,
		model: true,
		below: modelParams,
	},
	{Term: Term{Name: "model_has", Argument: "<capability>", Meaning: "the model has the capability", Values: []Value{
		{"vision", "it sees images"},
		{"tools", "it calls tools"},
		{"thinking", "it shows its reasoning"},
		{"thinking_levels", "the depth of its reasoning can be set"},
		{"embedding", "it is an embedding model"},
		{"reranking", "it reranks documents"},
		{"context_override", "the length of its context can be set"},
	}},
		arg: choice, model: true, match: modelHas},
	{Term: Term{Name: "model_is", Argument: "<name>", Meaning: "the model has this name, in upper or lower case"},
		arg: text, model: true, match: modelIs},

	{
		Term: Term{
			Name:     "exists",
			Argument: "<path>",
			Meaning:  "the file or directory exists, absolute or relative to the working directory",
		},
		arg:   text,
		match: exists,
	},
	{Term: Term{Name: "bash", Argument: "<command>", Meaning: "the shell command exits with 0 within 120 seconds"},
		arg: text, shell: true},
}

func contextPercent(c *sdk.Context) float64 { return c.Tokens.Percent }
func history(c *sdk.Context) float64        { return float64(c.MessageCount) }
func toolErrors(c *sdk.Context) float64     { return float64(c.Stats.ToolErrors) }
func toolCalls(c *sdk.Context) float64      { return float64(c.Stats.ToolCalls) }
func turns(c *sdk.Context) float64          { return float64(c.Stats.Turns) }
func compactions(c *sdk.Context) float64    { return float64(c.Stats.Compactions) }
func iteration(c *sdk.Context) float64      { return float64(c.Iteration) }
func tokensTotal(c *sdk.Context) float64    { return float64(c.Stats.TokensIn + c.Stats.TokensOut) }
func modelContext(c *sdk.Context) float64   { return float64(c.ModelInfo.ContextLength) }
func modelParams(c *sdk.Context) float64    { return float64(c.ModelInfo.ParameterCount) / 1e9 }

func modelHas(c *sdk.Context, capability string) bool {
	return slices.Contains(c.ModelInfo.Capabilities, capability)
}

// Names returns the vocabulary in the order of the documentation.
func Names() []Term {
	terms := make([]Term, len(table))
	for i := range table {
		terms[i] = table[i].Term
		terms[i].Values = slices.Clone(terms[i].Values)
	}
	return terms
}

// find returns the row with the given name, nil if there is none.
func find(name string) *term {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}
