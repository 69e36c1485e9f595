package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// maxMessage is the longest message of a server that is passed on, in bytes.
const maxMessage = 600

// phrase is a text that gives an error away whatever its status is. Matching is
// on lower case.
type phrase struct {
	class Class
	texts []string
}

// phrases are tried in order, before the status. Words about quota and billing
// details are not among them: Gemini uses them for plain rate limits.
var phrases = []phrase{
	{
		ContextExhausted,
		[]string{
			"context_length_exceeded",
			"context length exceeded",
			"maximum context length",
			"maximum context size",
			"exceed_context_size",
			"exceeds the available context size",
			"exceeds the context window",
			"exceeds the model's context",
			"exceed context limit",
			"exceeds context length",
			"context window exceeded",
			"model_context_window_exceeded",
			"context size has been exceeded",
			"prompt is too long",
			"input is too long",
			"prompt too long",
			"input length and `max_tokens` exceed",
			"exceeds the maximum number of tokens",
			"exceeds the maximum allowed input length",
			"too many tokens in the prompt",
			"reduce the length of the messages",
			"reduce the length of the prompt",
			"string_above_max_length",
			"larger than the context size",
			"greater than the context length",
			"exceeded model token limit",
		},
	},
	{
		CreditExhausted,
		[]string{
			"insufficient_quota",
			"insufficient quota",
			"billing_error",
			"billing_hard_limit",
			"billing hard limit",
			"billing_not_active",
			"insufficient credits",
			"credit balance is too low",
			"insufficient balance",
			"insufficient_balance",
			"insufficient funds",
			"payment required",
			"more credits",
			"out of credits",
			"used all available credits",
			"account is not active",
		},
	},
	{
		ContentFilter,
		[]string{
			"content_filter",
			"content filter",
			"content_policy",
			"content policy",
			"content management policy",
			"responsibleaipolicyviolation",
			"content_blocked",
			"content was blocked",
			"prohibited_content",
			"data_inspection_failed",
			"sensitive_words_detected",
			"input was flagged",
			"flagged by moderation",
			"content moderation",
			"content filtering policy",
		},
	},
	{
		Auth,
		[]string{
			"invalid_api_key",
			"api_key_invalid",
			"api key not valid",
			"incorrect api key",
			"invalid api key",
			"invalid x-api-key",
			"authentication_error",
			"permission_error",
			"unauthenticated",
			"permission_denied",
		},
	},
	{
		ModelUnavailable,
		[]string{
			"model_not_found",
			"model not found",
			"not_found_error",
			"is not a valid model",
			"invalid model name",
			"no such model",
			"no models loaded",
			"model is not loaded",
			"model not loaded",
			"model_not_supported",
			"model_unavailable",
			"no endpoints found",
		},
	},
	{RateLimit, []string{
		"rate_limit", "rate limit", "resource_exhausted", "too many requests", "too_many_requests", "ratelimit",
	}},
	{
		Server,
		[]string{
			"overloaded",
			"server_error",
			"timeout_error",
			"internal error",
			"internal_error",
			"api_error",
			"service unavailable",
			"service_unavailable",
			"internalservererror",
			"internal server error",
			"bad gateway",
			"upstream error",
		},
	},
}

// vague phrases say nothing when the status is a clear one.
var vague = []Class{Auth, ModelUnavailable, RateLimit, Server}

// BrokenOff is the error of an answer that the server itself gave up, for the reason
// that it named.
func (t *Transport) BrokenOff(format string, args ...any) *Error {
	e := t.Fail(Server, 0, format, args...)
	e.said = true
	return e
}

// Classify maps an error answer to an *Error: class, the server's own message and,
// where the body has it, how long to wait. Status 0 stands for an error that came
// inside a stream.
func (t *Transport) Classify(status int, body []byte) *Error {
	f := readFault(body)
	if status == 0 || status/100 == 2 {
		status = f.status
	}
	e := &Error{
		Class:      classOf(status, f),
		Provider:   t.name,
		Status:     status,
		Message:    t.clean(f.message),
		RetryAfter: f.wait,
		said:       true,
	}
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(status))
	}
	if e.Message == "" {
		e.Message = "the server gave no reason"
	}
	if e.Class == Auth && t.noToken {
		name := strings.ToUpper(strings.NewReplacer("-", "_", ".", "_", " ", "_").Replace(t.name))
		e.Message += fmt.Sprintf(" (no token is set: use the provider's token key or AURA_PROVIDERS_%s_TOKEN)", name)
	}
	return e
}

func classOf(status int, f fault) Class {
	byStatus := statusClass(status)
	text := strings.ToLower(f.hay)
	for _, p := range phrases {
		if byStatus != "" && slices.Contains(vague, p.class) {
			continue
		}
		for _, s := range p.texts {
			if strings.Contains(text, s) {
				return p.class
			}
		}
	}
	if strings.Contains(text, "input token count") && strings.Contains(text, "exceeds") {
		return ContextExhausted
	}
	return byStatus
}

func statusClass(status int) Class {
	switch {
	case status == http.StatusTooManyRequests:
		return RateLimit
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Auth
	case status == http.StatusPaymentRequired:
		return CreditExhausted
	case status == http.StatusNotFound:
		return ModelUnavailable
	case status == http.StatusRequestEntityTooLarge:
		return ContextExhausted
	case status == http.StatusRequestTimeout:
		return Network
	case status >= 500 && status <= 599:
		return Server
	}
	return ""
}

// fault is what an error body says.
type fault struct {
	message string
	hay     string        // Where phrases are looked for: message, codes, types.
	status  int           // HTTP status named in the body; 0 if none.
	wait    time.Duration // How long to wait; 0 if not said.
}

// readFault reads the usual shapes of error bodies: {"error":{...}}, {"error":"text"},
// {"message":...}, {"detail":...}, the same inside an array, HTML and plain text.
func readFault(body []byte) fault {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return fault{}
	case body[0] == '<':
		return fault{message: htmlMessage(body)}
	case body[0] == '[':
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 && len(list[0]) < len(body) {
			body = list[0]
		}
	}
	var f fault
	var v any
	if json.Unmarshal(body, &v) != nil {
		f.message = string(body[:min(len(body), 2*maxMessage)])
		f.hay = f.message
		return f
	}
	f.collect(v, 0)
	return f
}

// collect reads the known keys of an error object, outer ones first.
func (f *fault) collect(v any, depth int) {
	if depth > 4 {
		return
	}
	m, ok := v.(map[string]any)
	if !ok {
		if s, ok := v.(string); ok {
			f.say(s)
		}
		return
	}
	if inner, ok := m["error"]; ok {
		f.collect(inner, depth+1)
	}
	for _, key := range []string{"message", "detail", "error_description", "msg"} {
		if s, ok := m[key].(string); ok {
			f.say(s)
		}
	}
	for _, key := range []string{"type", "code", "status", "reason"} {
		switch x := m[key].(type) {
		case string:
			f.hay += "\n" + x
		case float64:
			if f.status == 0 && x >= 400 && x < 600 {
				f.status = int(x)
			}
		}
	}
	// OpenAI's Responses API nests the error of a failed response; OpenRouter hands on the words of the upstream
	// server.
	f.collect(m["response"], depth+1)
	if meta, ok := m["metadata"].(map[string]any); ok {
		if raw, ok := meta["raw"].(string); ok {
			f.say(raw)
		}
	}
	if details, ok := m["details"].([]any); ok {
		f.details(details)
	}
}

// details reads the details of Google's errors.
func (f *fault) details(list []any) {
	for _, v := range list {
		m, _ := v.(map[string]any)
		if s, ok := m["reason"].(string); ok {
			f.hay += "\n" + s
		}
		if s, ok := m["retryDelay"].(string); ok {
			if d, err := time.ParseDuration(s); err == nil && d > 0 {
				f.wait = d
			}
		}
	}
}

func (f *fault) say(s string) {
	f.hay += "\n" + s
	switch {
	case f.message == "":
		f.message = s
	case !strings.Contains(f.message, s):
		f.message += ": " + s
	}
}

// htmlMessage describes an HTML page without repeating it.
func htmlMessage(body []byte) string {
	text := "the server answered with an HTML page"
	lower := bytes.ToLower(body)
	if i := bytes.Index(lower, []byte("<title>")); i >= 0 {
		title := body[min(i+len("<title>"), len(body)):]
		if j := bytes.IndexByte(title, '<'); j >= 0 {
			if s := strings.TrimSpace(string(title[:j])); s != "" && len(s) < 100 {
				text += fmt.Sprintf(" (%s)", s)
			}
		}
	}
	return text + "; check the provider's url"
}

// networkMessage says what went wrong with a connection. During tells whether the
// answer had begun.
func networkMessage(err error, during bool) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("host %s cannot be resolved; check the provider's url and the network", dns.Name)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && errors.Is(err, syscall.ECONNREFUSED) && op.Addr != nil {
		return fmt.Sprintf("connection refused by %s; is the server running?", op.Addr)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		if during {
			return "stream ended early: the connection was cut"
		}
		return "the server closed the connection without an answer"
	}
	return err.Error()
}

// secrets are the texts of o that must never be shown.
func secrets(o Options) []string {
	var list []string
	if s := strings.TrimSpace(o.Token); len(s) >= 4 {
		list = append(list, s)
	}
	for name, value := range o.Headers {
		name = strings.ToLower(name)
		secret := slices.ContainsFunc(
			[]string{"auth", "key", "token", "secret", "cookie"},
			func(s string) bool { return strings.Contains(name, s) },
		)
		if value = strings.TrimSpace(value); secret && len(value) >= 4 {
			list = append(list, value)
		}
	}
	return list
}

// clean makes the words of a server fit to be shown: no secrets, one line, no
// control characters, bounded.
func (t *Transport) clean(s string) string {
	for _, secret := range t.secrets {
		s = strings.ReplaceAll(s, secret, "***")
	}
	s = strings.Join(
		strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }),
		" ",
	)
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + " ..."
}
