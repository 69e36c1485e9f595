package conversation

import (
	"fmt"
	"sync"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/wording"
)

// bytesPerToken is the rough size of a token. No tokenizer is linked: estimates are
// scaled by what the provider reports.
const bytesPerToken = 4

// Tokens corrects rough estimates by what the provider reported: it learns how many real
// tokens one rough token of this conversation is.
type Tokens struct {
	mu      sync.Mutex
	scale   float64 // 0 until the first report.
	divisor float64 // Bytes per token until then; 0 = bytesPerToken.
	last    int     // Input tokens of the latest report.
}

// Learn takes a report of the input tokens of a request whose rough size was rough.
func (t *Tokens) Learn(rough, input int) {
	if input <= 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = input
	if rough > 0 {
		// Small requests are all overhead and say little about text.
		t.scale = min(max(float64(input)/float64(rough), 0.25), 4)
	}
}

// SetDivisor sets the bytes per token until the first report; 0 takes the usual ones.
func (t *Tokens) SetDivisor(d float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.divisor = d
}

// Forget forgets the latest report, but not what was learned from it.
func (t *Tokens) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = 0
}

// Last is how many input tokens the provider reported last; 0 before the first report.
func (t *Tokens) Last() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// Real converts a rough count.
func (t *Tokens) Real(rough int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.scale != 0:
		return int(float64(rough) * t.scale)
	case t.divisor > 0:
		return int(float64(rough) * bytesPerToken / t.divisor)
	}
	return rough
}

// Size estimates the tokens of a text.
func (t *Tokens) Size(text string) int { return t.Real(len(text) / bytesPerToken) }

// Cut shortens a result that is larger than limit tokens, in its middle; 0 is no limit.
func (t *Tokens) Cut(text string, limit int) string {
	size := t.Size(text)
	if limit <= 0 || size <= limit {
		return text
	}
	keep := int(float64(limit) * bytesPerToken * float64(len(text)/bytesPerToken) / float64(max(size, 1)))
	begin, end := wording.Head(text, keep*2/3), wording.Tail(text, keep/3)
	return fmt.Sprintf(
		"%s\n\n[… %d of %d bytes left out: the result is larger than %d tokens. Ask for less at a time.]\n\n%s",
		begin, len(text)-len(begin)-len(end), len(text), limit, end,
	)
}

// CheckInput says what is wrong with an input that takes more than share percent of a
// window. Where either is 0, everything fits.
func (t *Tokens) CheckInput(text string, share, window int) error {
	size := t.Size(text)
	if share <= 0 || window <= 0 || size <= window*share/100 {
		return nil
	}
	return fmt.Errorf(
		"input too long: about %d tokens, more than %d%% of the %d token window (tools.user_input_max_percentage)",
		size, share, window,
	)
}

// roughMessage estimates the size of a message.
func roughMessage(m *message.Message) int {
	n := len(m.Content) + len(m.Thinking) + 16
	for _, c := range m.ToolCalls {
		n += len(c.Name) + jsonSize(c.Arguments)
	}
	return n/bytesPerToken + len(m.Images)*800
}

// roughTool estimates the size of a tool in a request.
func roughTool(t *Tool) int { return t.Bytes/bytesPerToken + 8 }

// jsonSize is about the number of bytes of a value as JSON.
func jsonSize(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 2
	case map[string]any:
		n := 2
		for k, x := range v {
			n += len(k) + 4 + jsonSize(x)
		}
		return n
	case []any:
		n := 2
		for _, x := range v {
			n += 1 + jsonSize(x)
		}
		return n
	}
	return 6
}
