// Package redact_secrets replaces keys and tokens in the results of tools before the
// model reads them. It shows AfterToolExecution: replace the output.
package redact_secrets

import (
	"context"
	"fmt"
	"regexp"

	"github.com/idelchi/aura/sdk"
)

// known are shapes of well-known secrets.
var known = []*regexp.Regexp{
	regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`),
	regexp.MustCompile(`\bgh[pousr]_[0-9A-Za-z]{36,}\b`),
	regexp.MustCompile(`\bsk-[0-9A-Za-z_-]{20,}`),
	regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----`),
	regexp.MustCompile(`(?i)\b(password|passwd|secret|token|api_key)(\s*[=:]\s*)\S+`),
}

// extra are the patterns of the configuration, compiled at first use.
var (
	extra    []*regexp.Regexp
	compiled bool
)

// AfterToolExecution runs after every tool call that was executed.
func AfterToolExecution(_ context.Context, c sdk.AfterToolContext) (sdk.Result, error) {
	if err := compile(c.PluginConfig); err != nil {
		return sdk.Result{Notice: "redact-secrets: " + err.Error()}, nil
	}
	text := c.ToolResult
	if c.ToolError != "" { // The output replaces both.
		if text != "" {
			text += "\n\n"
		}
		text += "Error: " + c.ToolError
	}
	clean := redact(text)
	if clean == text {
		return sdk.Result{}, nil // No Output: the result stays as it is.
	}
	return sdk.Result{Output: &clean}, nil
}

func redact(text string) string {
	for _, re := range append(known[:len(known):len(known)], extra...) {
		with := "<REDACTED>"
		if re.NumSubexp() == 2 {
			with = "$1$2<REDACTED>" // Keeps the name of the setting.
		}
		text = re.ReplaceAllString(text, with)
	}
	return text
}

func compile(config map[string]any) error {
	if compiled {
		return nil
	}
	list, _ := config["patterns"].([]any)
	for _, p := range list {
		re, err := regexp.Compile(fmt.Sprint(p))
		if err != nil {
			return err
		}
		extra = append(extra, re)
	}
	compiled = true
	return nil
}
