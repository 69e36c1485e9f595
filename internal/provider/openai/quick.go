package openai

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// quick is what the chunks of a stream say nearly always: a piece of text or of
// reasoning, and nothing else.
type quick struct {
	content, reasoningContent, reasoning string
}

// readQuick reads such a chunk several times faster than encoding/json. Whatever is
// unusual in any way is not read: the flag is false and the chunk has to be decoded in full.
func readQuick(data []byte) (q quick, ok bool) {
	s := scanner{b: data}
	choices := 0
	ok = s.object(func(key []byte) bool {
		switch string(key) {
		case "choices":
			choices++
			return s.eat('[') && s.choice(&q) && s.eat(']')
		case "error", "usage":
			return s.null()
		}
		return s.skip()
	})
	return q, ok && choices == 1 && s.end()
}

// scanner walks over JSON. Its methods return false when they meet something
// unexpected, and after that nothing more may be called.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) choice(q *quick) bool {
	deltas := 0
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "index":
			return s.eat('0')
		case "delta":
			deltas++
			return deltas == 1 && s.delta(q)
		case "finish_reason", "message":
			return s.null()
		}
		return s.skip()
	})
}

func (s *scanner) delta(q *quick) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "content":
			return s.text(&q.content)
		case "reasoning_content":
			return s.text(&q.reasoningContent)
		case "reasoning":
			return s.text(&q.reasoning)
		case "tool_calls", "refusal":
			return s.null()
		}
		return s.skip()
	})
}

// object calls member for each member, with the scanner before its value. Only keys
// in plain lower case are taken: encoding/json ignores case.
func (s *scanner) object(member func(key []byte) bool) bool {
	if !s.eat('{') {
		return false
	}
	if s.eat('}') {
		return true
	}
	for {
		key, ok := s.raw()
		if !ok {
			return false
		}
		key = key[1 : len(key)-1]
		for _, c := range key {
			if (c < 'a' || c > 'z') && c != '_' {
				return false
			}
		}
		if !s.eat(':') || !member(key) {
			return false
		}
		if s.eat('}') {
			return true
		}
		if !s.eat(',') {
			return false
		}
	}
}

func (s *scanner) blank() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
}

func (s *scanner) eat(c byte) bool {
	s.blank()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *scanner) end() bool {
	s.blank()
	return s.i == len(s.b)
}

func (s *scanner) null() bool {
	s.blank()
	if bytes.HasPrefix(s.b[s.i:], []byte("null")) {
		s.i += len("null")
		return true
	}
	return false
}

// raw returns a string with its quotes, still escaped.
func (s *scanner) raw() ([]byte, bool) {
	if !s.eat('"') {
		return nil, false
	}
	start := s.i - 1
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return s.b[start:s.i], true
		case c == '\\':
			s.i++
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// text reads a string or null.
func (s *scanner) text(out *string) bool {
	if s.null() {
		return true
	}
	raw, ok := s.raw()
	if !ok {
		return false
	}
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		*out = string(raw[1 : len(raw)-1])
		return true
	}
	return json.Unmarshal(raw, out) == nil
}

// skip passes over a string, a number, a word, or an object or list that contains
// nothing that could be mistaken.
func (s *scanner) skip() bool {
	s.blank()
	if s.i == len(s.b) {
		return false
	}
	start := s.i
	switch s.b[s.i] {
	case '"':
		_, ok := s.raw()
		return ok
	case '{', '[':
		d := json.NewDecoder(bytes.NewReader(s.b[s.i:]))
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false
		}
		s.i += int(d.InputOffset())
		return true
	}
	for s.i < len(s.b) && s.b[s.i] != ',' && s.b[s.i] != '}' && s.b[s.i] != ']' {
		s.i++
	}
	return json.Valid(s.b[start:s.i])
}
