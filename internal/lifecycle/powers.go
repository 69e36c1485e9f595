package lifecycle

// Power is a set of things a handler may do at a moment.
type Power uint16

// The powers. A reply that uses a power its moment does not grant loses that part.
const (
	Say            Power = 1 << iota // inject a message
	Notify                           // show a notice to the user
	DisableTools                     // take tools away for the rest of the turn
	RewriteText                      // replace the text of the user
	RewriteArgs                      // replace the arguments of a tool call
	RewriteOutput                    // replace the result of a tool call
	RewriteArray                     // replace the messages of one model call
	Block                            // refuse what is about to happen
	AppendSystem                     // add to the system prompt of one model call
	SkipChat                         // make no model call
	StoreOther                       // store another response, or none
	RecoverError                     // retry or skip a provider error
	SkipCompaction                   // leave the history as it is
)

// onTool are the powers of the moments around a tool call.
const onTool = RewriteArgs | RewriteOutput

// powers is the table of powers: their words in documentation and traces, and what of
// a reply uses them.
var powers = []struct {
	power Power
	name  string
	drop  func(*Reply)
}{
	{Say, "say", func(r *Reply) { r.Message = "" }},
	{Notify, "notice", func(r *Reply) { r.Notice = "" }},
	{DisableTools, "disable tools", func(r *Reply) { r.DisableTools = nil }},
	{RewriteText, "rewrite text", func(r *Reply) { r.Text = nil }},
	{RewriteArgs, "rewrite arguments", func(r *Reply) { r.Arguments, r.Ask = nil, "" }},
	{RewriteOutput, "replace output", func(r *Reply) { r.Output = nil }},
	{RewriteArray, "replace messages", func(r *Reply) { r.Messages = nil }},
	{Block, "block", func(r *Reply) { r.Block = false }},
	{AppendSystem, "append system prompt", func(r *Reply) {
		if r.Request != nil {
			q := *r.Request
			q.AppendSystem = nil
			r.Request = &q
		}
	}},
	{SkipChat, "skip model call", func(r *Reply) {
		if r.Request != nil {
			q := *r.Request
			q.Skip = false
			r.Request = &q
		}
	}},
	{StoreOther, "replace or drop stored response", func(r *Reply) { r.Response = nil }},
	{RecoverError, "retry or skip error", func(r *Reply) { r.Error = nil }},
	{SkipCompaction, "skip compaction", func(r *Reply) { r.Compaction = nil }},
}

// Names lists the powers of a set in words.
func (p Power) Names() []string {
	var names []string
	for _, n := range powers {
		if p&n.power != 0 {
			names = append(names, n.name)
		}
	}
	return names
}

// restrict drops what the moment does not allow.
func (r *Reply) restrict(may Power) {
	for i := range powers {
		if may&powers[i].power == 0 {
			powers[i].drop(r)
		}
	}
	if may&onTool == 0 {
		r.Feedback = ""
	}
}
