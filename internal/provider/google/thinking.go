package google

import (
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

type thinking struct {
	Include bool   `json:"includeThoughts,omitempty"`
	Budget  *int   `json:"thinkingBudget,omitempty"`
	Level   string `json:"thinkingLevel,omitempty"`
}

// budgets are the tokens a level of thinking may take.
var budgets = map[string]int{"low": 4096, "medium": 12_288, "high": 32_768}

const (
	maxFlash = 24_576 // Largest budget of the Flash models.
	maxPro   = 32_768
	minPro   = 128 // The Pro models cannot do without thinking.
)

// generation reads the number in a name such as gemini-3-pro-preview or
// gemini-2.5-flash; names without a number are 0.
func generation(model string) int {
	_, rest, ok := strings.Cut(strings.ToLower(model), "gemini-")
	n := 0
	for ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' && n < 100 {
		n = 10*n + int(rest[0]-'0')
		rest = rest[1:]
	}
	return n
}

// think gives the settings for thinking: levels since Gemini 3, a budget of
// tokens before, and nothing for models that cannot think.
func think(req *provider.Request) *thinking {
	name := strings.ToLower(req.Model)
	gen := generation(name)
	budget := req.Generation.ThinkBudget
	switch {
	case !strings.Contains(name, "gemini"),
		gen == 1,
		strings.Contains(name, "gemini-2.0"),
		strings.Contains(name, "embedding"):
		return nil
	case req.Think == "" && budget <= 0:
		return nil
	case gen >= 3 && (budget <= 0 || req.Think == "off"):
		return level(name, req.Think)
	case req.Think == "off":
		none := 0
		if strings.Contains(name, "pro") {
			none = minPro
		}
		return &thinking{Budget: &none}
	}
	if budget <= 0 {
		budget = budgets[req.Think]
	}
	limit := maxPro
	if strings.Contains(name, "flash") {
		limit = maxFlash
	}
	budget = min(budget, limit)
	return &thinking{Include: true, Budget: &budget}
}

// level picks the nearest level that every model of the generation takes: none can
// switch thinking off for good, and the first Pro had no medium.
func level(name, think string) *thinking {
	switch {
	case think == "off":
		return &thinking{Level: "low"}
	case think == "medium" && strings.Contains(name, "gemini-3-pro"):
		think = "high"
	}
	return &thinking{Include: true, Level: think}
}
