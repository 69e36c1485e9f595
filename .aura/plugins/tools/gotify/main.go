// Package gotify is a tool with which the model sends push notifications to a
// Gotify server. Server and token come from the environment variables that
// plugin.yaml declares; without them the tool does not exist.
package gotify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/idelchi/aura/sdk"
)

// levels are the levels in rising order, priorities what Gotify calls them: from 4
// on a phone makes a sound, from 8 on it insists.
var (
	levels     = []any{"INFO", "WARNING", "ERROR"}
	priorities = []int{2, 5, 8}
)

// Schema describes the tool to the model.
func Schema() sdk.ToolSchema {
	return sdk.ToolSchema{
		Name:        "Gotify",
		Description: "Send a push notification to the user's devices.",
		Usage:       "Use it when the user asked to be notified, or when long work is finished or needs a decision.",
		Examples:    `{"title": "Build", "message": "All tests pass.", "level": "INFO"}`,
		Parameters: sdk.ToolParameters{
			Type: "object",
			Properties: map[string]sdk.ToolProperty{
				"title":   {Type: "string", Description: "A few words; optional"},
				"message": {Type: "string", Description: "The text"},
				"level":   {Type: "string", Description: "How urgent it is; INFO if left out", Enum: levels},
			},
			Required: []string{"message"},
		},
	}
}

// Available keeps the tool out of the registry where it could not work.
func Available() bool {
	return os.Getenv("GARFIELD_LABS_GOTIFY_URL") != "" && os.Getenv("GARFIELD_LABS_GOTIFY_TOKEN") != ""
}

// Sandboxable is false because the tool needs the network.
func Sandboxable() bool { return false }

// Execute sends one notification. The arguments fit the schema.
func Execute(ctx context.Context, c sdk.Context, args map[string]any) (string, error) {
	title, _ := args["title"].(string)
	if title == "" {
		title, _ = c.PluginConfig["title"].(string)
	}
	message, _ := args["message"].(string)
	level, _ := args["level"].(string)
	if level == "" {
		level = "INFO"
	}
	// A task can set the threshold for its own run, so it is read each time.
	if least := strings.ToUpper(os.Getenv("GOTIFY_LOG_LEVEL")); rank(level) < rank(least) {
		return fmt.Sprintf("not sent: level %s is below GOTIFY_LOG_LEVEL %s", level, least), nil
	}
	timeout := 10
	if v, ok := c.PluginConfig["timeout"].(int); ok && v > 0 {
		timeout = v
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(timeout)*time.Second)
	defer cancel()
	if err := post(ctx, title, message, priorities[rank(level)]); err != nil {
		return "", err
	}
	return fmt.Sprintf("sent %q with level %s", title, level), nil
}

// rank is the place of a level among the levels; what is none counts as the lowest.
func rank(level string) int {
	for i, l := range levels {
		if l == level {
			return i
		}
	}
	return 0
}

// post calls the API. The token is sent as a header, where no error message and
// no server log repeats it.
func post(ctx context.Context, title, message string, priority int) error {
	body, err := json.Marshal(map[string]any{"title": title, "message": message, "priority": priority})
	if err != nil {
		return err
	}
	url := strings.TrimRight(os.Getenv("GARFIELD_LABS_GOTIFY_URL"), "/") + "/message"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Gotify-Key", os.Getenv("GARFIELD_LABS_GOTIFY_TOKEN"))
	// Following a redirect would hand the token to whatever server it names.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return fmt.Errorf("gotify: %s: %s", resp.Status, strings.TrimSpace(string(text)))
	}
	return nil
}
