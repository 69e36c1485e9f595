package pyext

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/sdk"
)

// maxFrame is the longest line that is read from Python.
const maxFrame = 32 << 20

// frame is one line from Python. Which fields are set says what it is.
type frame struct {
	ID    int64           `json:"id"`    // The call it is about.
	Ok    json.RawMessage `json:"ok"`    // Its answer.
	Error *string         `json:"error"` // Or why there is none.
	Trace string          `json:"trace"` // For the log.
	Await bool            `json:"await"` // The call waits for something; others can run.

	Ask    string `json:"ask"` // The call needs to know something.
	Number int64  `json:"number"`

	Log     *string  `json:"log"` // An extension says something.
	Level   int      `json:"level"`
	Index   int      `json:"index"`   // Who.
	Prompts []string `json:"prompts"` // An extension changed its additions to the prompt.

	Loading int     `json:"loading"` // An extension is about to be loaded.
	Loaded  *loaded `json:"loaded"`
	Ready   bool    `json:"ready"`
}

// loaded is what one extension registered.
type loaded struct {
	Index    int           `json:"index"`
	Error    string        `json:"error"`
	Trace    string        `json:"trace"`
	Handlers []handlerSpec `json:"handlers"`
	Tools    []toolSpec    `json:"tools"`
	Commands []commandSpec `json:"commands"`
	Prompts  []string      `json:"prompts"`
}

type handlerSpec struct {
	Event     string `json:"event"`
	OnFailure string `json:"on_failure"`
}

type toolSpec struct {
	Name             string          `json:"name"`
	Description      string          `json:"description"`
	InputSchema      json.RawMessage `json:"input_schema"`
	SideEffects      []string        `json:"side_effects"`
	RequiresApproval bool            `json:"requires_approval"`
}

type commandSpec struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// parseFrame reads a line from Python. The commonest one, an answer that changes
// nothing, is read without a decoder.
func parseFrame(line []byte) (f frame, err error) {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"id":`)); ok && len(rest) < 20 {
		if digits, ok := bytes.CutSuffix(bytes.TrimRight(rest, "\n"), []byte("}")); ok {
			if f.ID, err = strconv.ParseInt(string(digits), 10, 64); err == nil {
				return f, nil
			}
		}
	}
	if err := json.Unmarshal(line, &f); err != nil {
		return frame{}, fmt.Errorf("malformed line: %w", err)
	}
	return f, nil
}

// facts is what extensions can read about the session at any time. It crosses the
// wire only when it changed.
type facts struct {
	Session sessionFacts `json:"session"`
	Config  configFacts  `json:"config"`
}

type sessionFacts struct {
	ID          string       `json:"session_id"`
	State       string       `json:"state"`
	Steps       int          `json:"step_count"`
	Turns       int          `json:"turn_count"`
	ToolCalls   int          `json:"tool_call_count"`
	In          int          `json:"total_input_tokens"`
	Out         int          `json:"total_output_tokens"`
	Cost        float64      `json:"total_cost"`
	ContextUsed int          `json:"context_tokens"`
	Metadata    metadataFact `json:"metadata"`
}

type metadataFact struct {
	Title string `json:"title"`
	Agent string `json:"agent"`
	Mode  string `json:"mode"`
}

type configFacts struct {
	Agent         string `json:"agent"`
	Mode          string `json:"mode"`
	Model         string `json:"model"`
	Provider      string `json:"provider"`
	Think         string `json:"think"`
	MaxSteps      int    `json:"max_steps"`
	Auto          bool   `json:"auto"`
	Workdir       string `json:"workdir"`
	ContextLength int    `json:"context_length"`
	Vars          varMap `json:"vars"`
}

// varMap keeps the variables of the session comparable: they never change.
type varMap struct{ values *map[string]string }

func (v varMap) MarshalJSON() ([]byte, error) {
	if v.values == nil || *v.values == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(*v.values)
}

// factsOf takes the facts from a snapshot. vars is where the variables of the
// session are kept.
func factsOf(c *sdk.Context, vars *map[string]string) facts {
	return facts{
		Session: sessionFacts{
			ID:          c.SessionID,
			State:       "running",
			Steps:       c.Stats.Iterations,
			Turns:       c.Stats.Turns,
			ToolCalls:   c.Stats.ToolCalls,
			In:          c.Stats.TokensIn,
			Out:         c.Stats.TokensOut,
			ContextUsed: c.Tokens.Estimate,
			Metadata:    metadataFact{Title: c.SessionTitle, Agent: c.Agent, Mode: c.Mode},
		},
		Config: configFacts{
			Agent:         c.Agent,
			Mode:          c.Mode,
			Model:         c.ModelInfo.Name,
			Provider:      c.Provider,
			Think:         c.ThinkMode,
			MaxSteps:      c.MaxSteps,
			Auto:          c.Auto,
			Workdir:       c.Workdir,
			ContextLength: c.ModelInfo.ContextLength,
			Vars:          varMap{vars},
		},
	}
}

// sender writes frames to Python. Frames stay whole and in the order of the queue:
// who adds a call to the queue holds mu until its frame is written.
type sender struct {
	mu     sync.Mutex
	file   *os.File
	facts  facts  // As sent last.
	buffer []byte // Of the frame before.
}

// maxBuffer is the largest frame whose memory is used again.
const maxBuffer = 64 << 10

// line writes a frame that is not a call.
func (s *sender) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(append([]byte(text), '\n'))
}

// call writes the frame of a call. The caller holds mu.
func (s *sender) call(id int64, c *call) {
	frame := append(append(append(s.buffer[:0], `{"op":"`...), c.op...), `","id":`...)
	frame = append(strconv.AppendInt(frame, id, 10), `,"owner":`...)
	frame = append(strconv.AppendInt(frame, int64(c.owner), 10), ',')
	frame = append(frame, c.fields...)
	frame = s.appendFacts(frame, c.context)
	frame = append(frame, "}\n"...)
	if len(frame) <= maxBuffer {
		s.buffer = frame
	}
	s.write(frame)
}

// write writes a frame. The caller holds mu. An error means that the process is
// gone: the reader reports it.
func (s *sender) write(frame []byte) { _, _ = s.file.Write(frame) }

// appendFacts adds the facts to a frame if they are news. The caller holds mu.
func (s *sender) appendFacts(frame []byte, c *sdk.Context) []byte {
	now := factsOf(c, s.facts.Config.Vars.values)
	if now.Config.Vars.values == nil && c.Vars != nil {
		now.Config.Vars.values = new(c.Vars)
	}
	if now == s.facts {
		return frame
	}
	data, err := jsontext.Marshal(now)
	if err != nil {
		return frame
	}
	s.facts = now
	return append(append(frame, `,"facts":`...), data...)
}

// readFrames takes frames from Python until there are no more.
func readFrames(from io.Reader, take func(frame)) error {
	r := bufio.NewReaderSize(from, 64<<10)
	var long []byte
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, line...); len(long) > maxFrame {
				return fmt.Errorf("a line of more than %d bytes", maxFrame)
			}
			continue
		}
		if err != nil {
			return err
		}
		if long != nil {
			line, long = append(long, line...), nil
		}
		f, err := parseFrame(line)
		if err != nil {
			return err
		}
		take(f)
	}
}
