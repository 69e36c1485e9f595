package provider

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Retry says how often and how patiently a request is repeated before the first piece
// of its answer has arrived.
type Retry struct {
	MaxAttempts *int          `yaml:"max_attempts"` // Retries after the first request; nil = 2, 0 switches off.
	BaseDelay   time.Duration `yaml:"base_delay"`   // Before the first retry, doubled for each further one; 0 = 1s.
	MaxDelay    time.Duration `yaml:"max_delay"`    // Longest wait; 0 = 30s.
}

const (
	defaultAttempts  = 2
	defaultBaseDelay = time.Second
	defaultMaxDelay  = 30 * time.Second
)

// wait returns how long to wait before retry number attempt (from 0) after e, or
// false if there is none: the retries are used up, or the server asks for more
// patience than MaxDelay.
func (r Retry) wait(attempt int, e *Error) (time.Duration, bool) {
	limit := defaultAttempts
	if r.MaxAttempts != nil {
		limit = *r.MaxAttempts
	}
	longest := r.MaxDelay
	if longest <= 0 {
		longest = defaultMaxDelay
	}
	if attempt >= limit || e.RetryAfter > longest {
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, true
	}
	delay := r.BaseDelay
	if delay <= 0 {
		delay = defaultBaseDelay
	}
	for range attempt {
		if delay >= longest {
			break
		}
		delay *= 2
	}
	delay = min(delay, longest)
	// Jitter only shortens, so that the configured delays stay upper bounds.
	return delay - time.Duration(rand.Int64N(int64(delay)/4+1)), true
}

type onceKey struct{}

// Once returns a context in which no request is repeated. It is for questions that
// should not hold up anybody, such as those about models.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

func isOnce(ctx context.Context) bool { return ctx.Value(onceKey{}) != nil }

type retryKey struct{}

// OnRetry returns a context in which f is told of every request that will be sent
// again: what went wrong, and how long is waited before. It is called by the goroutine
// that made the request.
func OnRetry(ctx context.Context, f func(e *Error, wait time.Duration)) context.Context {
	return context.WithValue(ctx, retryKey{}, f)
}

func tellRetry(ctx context.Context, e *Error, wait time.Duration) {
	if f, ok := ctx.Value(retryKey{}).(func(*Error, time.Duration)); ok {
		f(e, wait)
	}
}

// passing reports whether a failure without a status, of a connection or inside a
// stream, may go away by itself. An answer that cannot be read does not.
func (e *Error) passing() bool {
	if e.said {
		return e.Class.Retryable()
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](e.Err); ok {
		return false
	}
	// Having waited a whole idle timeout in vain is patience enough.
	return e.Class == Network && !errors.Is(e.Err, errIdle)
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retryAfter reads what the server asked for: retry-after-ms, or Retry-After in
// seconds or as a date. 0 if there is nothing usable.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, ok := positive(h.Get("Retry-After-Ms")); ok {
		return duration(ms, time.Millisecond)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, ok := positive(value); ok {
		return duration(s, time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

func positive(s string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return f, err == nil && f >= 0
}

// duration converts without overflow: a year stands for everything longer.
func duration(n float64, unit time.Duration) time.Duration {
	const year = 365 * 24 * time.Hour
	if n >= float64(year)/float64(unit) {
		return year
	}
	return time.Duration(n * float64(unit))
}
