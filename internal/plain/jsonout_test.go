package plain

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/provider"
)

func finished() Outcome {
	return Outcome{SessionID: "s1", Agent: "coder", Model: "m", Err: errors.New("maximum steps exceeded")}
}

// HO-53: notices are part of the report.
func TestJSON(t *testing.T) {
	var out bytes.Buffer
	j := NewJSON(&out)
	events := append(story(),
		agent.Event{Kind: agent.TurnStarted, Text: "again"},
		agent.Event{Kind: agent.Answered, Text: "<b> & done"},
		agent.Event{Kind: agent.TurnEnded, Duration: time.Second, Usage: &provider.Usage{Input: 100, Output: 1}})
	tell(j, events)
	if out.Len() > 0 {
		t.Errorf("written before the end: %q", out.String())
	}
	if err := j.Finish(finished()); err != nil {
		t.Fatal(err)
	}
	golden(t, "json", out.String())
	if strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), `"answer":"<b> & done"`) {
		t.Errorf("want one line without HTML escapes, got %s", out.String())
	}
}

func TestEmptyReport(t *testing.T) {
	var out bytes.Buffer
	if err := NewJSON(&out).Finish(Outcome{}); err != nil {
		t.Fatal(err)
	}
	const want = `{"answer":"","session_id":"","agent":"","model":"","turns":[],"usage":{"input":0,"output":0},"tool_calls":[],"notices":[],"error":null}` + "\n"
	if out.String() != want {
		t.Errorf("got %s", out.String())
	}
}

func TestStreamJSON(t *testing.T) {
	var out bytes.Buffer
	s := NewStream(&out)
	tell(s, story())
	if err := s.Finish(finished()); err != nil {
		t.Fatal(err)
	}
	golden(t, "stream-json", out.String())
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(story())+1 {
		t.Errorf("%d lines for %d events", len(lines), len(story()))
	}
	for _, line := range lines {
		var v struct {
			Type     string
			Duration *int
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil || v.Type == "" || v.Duration != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestArgumentsThatAreNoJSON(t *testing.T) {
	args := map[string]any{"bad": math.NaN(), "good": 1, "fn": func() {}}
	for _, format := range []string{"json", "stream-json"} {
		var out bytes.Buffer
		o, err := NewOutput(format, PrinterOptions{Out: &out})
		if err != nil {
			t.Fatal(err)
		}
		o.Observe(agent.Event{Kind: agent.ToolStarted, Tool: "T", CallID: "1", Args: args})
		o.Observe(agent.Event{Kind: agent.ToolFinished, Tool: "T", CallID: "1"})
		if err := o.Finish(
			Outcome{},
		); err != nil || !strings.Contains(out.String(), `"bad":"NaN"`) ||
			!strings.Contains(out.String(), `"good":1`) {
			t.Errorf("%s: %v: %s", format, err, out.String())
		}
	}
}

// The page is the contract: everything that is written must be on it.
func TestOutputIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "output.md"))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, v := range []any{Report{}, TurnReport{}, CallReport{}, NoticeReport{}, provider.Usage{}, agent.Event{}, eventLine{}} {
		for f := range reflect.TypeOf(v).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			words = append(words, name)
		}
	}
	for _, e := range story() {
		words = append(words, string(e.Kind))
	}
	for _, word := range words {
		if word != "" && word != "duration" && !strings.Contains(string(page), "`"+word+"`") {
			t.Errorf("docs/output.md does not mention `%s`", word)
		}
	}
}
