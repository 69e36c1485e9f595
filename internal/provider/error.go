package provider

import (
	"errors"
	"fmt"
	"time"
)

// Class sorts provider errors by what can be done about them. The values are
// what OnError handlers see.
type Class string

// The error classes. The empty class is everything else.
const (
	RateLimit        Class = "rate_limit"
	Auth             Class = "auth"
	Network          Class = "network"
	Server           Class = "server"
	ContentFilter    Class = "content_filter"
	CreditExhausted  Class = "credit_exhausted"
	ModelUnavailable Class = "model_unavailable"
	ContextExhausted Class = "context_exhausted"
)

// Retryable reports whether the same request may succeed later.
func (c Class) Retryable() bool { return c == RateLimit || c == Server || c == Network }

// Error is a failure of a model call.
type Error struct {
	Class      Class
	Provider   string        // Name of the provider in the configuration.
	Status     int           // HTTP status; 0 where there was none.
	Message    string        // The server's own words, or what went wrong.
	RetryAfter time.Duration // What the server asked for; 0 if it did not.
	Err        error         // Cause, may be nil.

	said bool // The server itself reported it, rather than sending what is no answer.
}

// headlines say to a user what a class means.
var headlines = map[Class]string{
	RateLimit:        "rate limited",
	Auth:             "authentication failed",
	Network:          "cannot reach provider",
	Server:           "provider server error",
	ContentFilter:    "blocked by content filter",
	CreditExhausted:  "credits exhausted",
	ModelUnavailable: "model not available",
	ContextExhausted: "context window exceeded",
}

// Error gives the user-facing text: provider, what the class means, and the
// provider's own message.
func (e *Error) Error() string {
	head := headlines[e.Class]
	if head == "" {
		head = "request failed"
	}
	if e.RetryAfter > 0 {
		head += fmt.Sprintf(" (retry after %s)", e.RetryAfter.Round(time.Second))
	}
	if e.Status >= 300 { // "HTTP 200" would only puzzle.
		head += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message == "" && e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Provider, head, e.Err)
	}
	return fmt.Sprintf("%s: %s: %s", e.Provider, head, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of err, or the empty class.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return ""
}
