// Package catalogue knows what a model can do by its name alone.
package catalogue

import (
	"slices"
	"strconv"
	"strings"
)

// Capabilities of models.
const (
	Vision          = "vision"
	Tools           = "tools"
	Thinking        = "thinking"
	ThinkingLevels  = "thinking_levels"
	Embedding       = "embedding"
	Reranking       = "reranking"
	ContextOverride = "context_override"
)

// entry is what is known about the models whose names begin with prefix, in the
// spelling of canonical.
type entry struct {
	prefix  string
	family  string
	context int    // 0 = unknown.
	caps    string // Letters of capLetters.
}

// capLetters are the capabilities in the order in which they are listed.
var capLetters = []struct {
	letter byte
	name   string
}{
	{'v', Vision}, {'t', Tools}, {'h', Thinking}, {'l', ThinkingLevels}, {'e', Embedding}, {'r', Reranking},
}

// catalogue knows the usual models. The longest matching prefix counts.
var catalogue = []entry{
	{"gpt", "gpt", 0, "t"},
	{"gpt3.5", "gpt", 16385, "t"},
	{"gpt35", "gpt", 16385, "t"},
	{"gpt4", "gpt", 8192, "t"},
	{"gpt4-32k", "gpt", 32768, "t"},
	{"gpt4-turbo", "gpt", 128000, "vt"},
	{"gpt4-1106", "gpt", 128000, "t"},
	{"gpt4-0125", "gpt", 128000, "t"},
	{"gpt4o", "gpt", 128000, "vt"},
	{"chatgpt4o", "gpt", 128000, "v"},
	{"gpt4.1", "gpt", 1047576, "vt"},
	{"gpt4.5", "gpt", 128000, "vt"},
	{"gpt5", "gpt", 400000, "vthl"},
	{"gpt5-chat", "gpt", 128000, "v"},
	{"gpt5.", "gpt", 400000, "vthl"},
	{"gpt-oss", "gpt-oss", 131072, "thl"},
	{"codex-mini", "gpt", 200000, "vthl"},
	{"o1", "o", 200000, "vthl"},
	{"o1-mini", "o", 128000, "h"},
	{"o1-preview", "o", 128000, "h"},
	{"o3", "o", 200000, "vthl"},
	{"o3-mini", "o", 200000, "thl"},
	{"o4-mini", "o", 200000, "vthl"},
	{"text-embedding", "gpt", 8192, "e"},

	{"claude", "claude", 200000, "vt"},
	{"claude2", "claude", 100000, ""},
	{"claude2.1", "claude", 200000, ""},
	{"claude-instant", "claude", 100000, ""},
	{"claude3-7", "claude", 200000, "vthl"},
	{"claude3.7", "claude", 200000, "vthl"},
	{"claude-sonnet", "claude", 200000, "vthl"},
	{"claude-opus", "claude", 200000, "vthl"},
	{"claude-haiku", "claude", 200000, "vthl"},
	{"claude4", "claude", 200000, "vthl"},

	{"gemini", "gemini", 1048576, "vt"},
	{"gemini1.0", "gemini", 32768, "t"},
	{"gemini1.5", "gemini", 1048576, "vt"},
	{"gemini1.5-pro", "gemini", 2097152, "vt"},
	{"gemini2.0", "gemini", 1048576, "vt"},
	{"gemini2.0-flash-thinking", "gemini", 1048576, "vh"},
	{"gemini2.5", "gemini", 1048576, "vthl"},
	{"gemini3", "gemini", 1048576, "vthl"},
	{"gemini3.", "gemini", 1048576, "vthl"},
	{"gemini-embedding", "gemini", 2048, "e"},
	{"gemini-flash", "gemini", 1048576, "vthl"},
	{"gemini-pro", "gemini", 1048576, "vthl"},
	{"gemma", "gemma", 8192, ""},
	{"gemma3", "gemma", 131072, "v"},
	{"gemma3n", "gemma", 32768, ""},
	{"embeddinggemma", "gemma", 2048, "e"},

	{"llama", "llama", 0, ""},
	{"llama2", "llama", 4096, ""},
	{"llama3", "llama", 8192, ""},
	{"llama3.1", "llama", 131072, "t"},
	{"llama3.2", "llama", 131072, "t"},
	{"llama3.2-vision", "llama", 131072, "v"},
	{"llama3.2-11b-vision", "llama", 131072, "v"},
	{"llama3.2-90b-vision", "llama", 131072, "v"},
	{"llama3.3", "llama", 131072, "t"},
	{"llama4", "llama", 1048576, "vt"},
	{"llama4-scout", "llama", 10485760, "vt"},
	{"codellama", "llama", 16384, ""},
	{"llava", "llava", 4096, "v"},

	{"qwen", "qwen", 32768, ""},
	{"qwen2", "qwen", 32768, "t"},
	{"qwen2-vl", "qwen", 32768, "v"},
	{"qwen2.5", "qwen", 32768, "t"},
	{"qwen2.5-vl", "qwen", 128000, "v"},
	{"qwen2.5vl", "qwen", 128000, "v"},
	{"qwen3", "qwen", 40960, "th"},
	{"qwen3.", "qwen", 262144, "vth"},
	{"qwen3-coder", "qwen", 262144, "t"},
	{"qwen3-vl", "qwen", 262144, "vth"},
	{"qwen3-next", "qwen", 262144, "th"},
	{"qwen3-embedding", "qwen", 32768, "e"},
	{"qwen3-reranker", "qwen", 32768, "r"},
	{"qwq", "qwen", 40960, "th"},

	{"mistral", "mistral", 32768, "t"},
	{"mistral-large", "mistral", 131072, "t"},
	{"mistral-medium", "mistral", 131072, "vt"},
	{"mistral-small", "mistral", 131072, "vt"},
	{"mistral-small:22b", "mistral", 32768, "t"},
	{"mistral-nemo", "mistral", 131072, "t"},
	{"mistral-embed", "mistral", 8192, "e"},
	{"ministral", "mistral", 131072, "t"},
	{"mixtral", "mistral", 32768, "t"},
	{"mixtral8x22b", "mistral", 65536, "t"},
	{"open-mistral", "mistral", 32768, "t"},
	{"open-mixtral", "mistral", 32768, "t"},
	{"codestral", "mistral", 262144, "t"},
	{"devstral", "mistral", 131072, "t"},
	{"magistral", "mistral", 131072, "th"},
	{"pixtral", "mistral", 131072, "vt"},

	{"deepseek", "deepseek", 0, ""},
	{"deepseek-chat", "deepseek", 131072, "t"},
	{"deepseek-reasoner", "deepseek", 131072, "th"},
	{"deepseek-v3", "deepseek", 131072, "t"},
	{"deepseek-v3.1", "deepseek", 131072, "th"},
	{"deepseek-v3.2", "deepseek", 131072, "th"},
	{"deepseek-r1", "deepseek", 131072, "th"},
	{"deepseek-coder", "deepseek", 16384, ""},
	{"deepseek-coder-v2", "deepseek", 163840, ""},

	{"phi", "phi", 0, ""},
	{"phi3", "phi", 131072, ""},
	{"phi3.5", "phi", 131072, ""},
	{"phi4", "phi", 16384, ""},
	{"phi4-mini", "phi", 131072, "t"},
	{"phi4-reasoning", "phi", 32768, "h"},
	{"command-r", "command", 131072, "t"},
	{"command-a", "command", 262144, "t"},
	{"granite", "granite", 0, ""},
	{"granite3", "granite", 131072, "t"},
	{"granite3.", "granite", 131072, "t"},
	{"granite4", "granite", 131072, "t"},
	{"glm4", "glm", 131072, "t"},
	{"glm4.5", "glm", 131072, "th"},
	{"glm4.5v", "glm", 65536, "vth"},
	{"glm4.6", "glm", 202752, "th"},
	{"glm4.7", "glm", 202752, "th"},
	{"glm5", "glm", 202752, "th"},
	{"kimi-k2", "kimi", 262144, "t"},
	{"kimi-k2-thinking", "kimi", 262144, "th"},
	{"minimax-m2", "minimax", 204800, "th"},
	{"grok", "grok", 131072, "t"},
	{"grok3-mini", "grok", 131072, "thl"},
	{"grok4", "grok", 262144, "vth"},
	{"grok-code", "grok", 262144, "th"},
	{"smollm2", "smollm", 8192, "t"},
	{"smollm3", "smollm", 65536, "th"},
	{"starcoder2", "starcoder", 16384, ""},

	{"nomic-embed", "nomic", 8192, "e"},
	{"mxbai-embed", "mxbai", 512, "e"},
	{"mxbai-rerank", "mxbai", 8192, "r"},
	{"bge", "bge", 512, "e"},
	{"bge-m3", "bge", 8192, "e"},
	{"bge-reranker", "bge", 8192, "r"},
	{"all-minilm", "minilm", 512, "e"},
	{"snowflake-arctic-embed", "arctic", 512, "e"},
	{"jina-embeddings", "jina", 8192, "e"},
	{"jina-reranker", "jina", 8192, "r"},
}

// hosted are the families that only their makers serve. The context length of all
// others is up to who runs them; the catalogue has what the model was made for.
var hosted = []string{"gpt", "o", "claude", "gemini", "grok"}

// Model is what is known about a model.
type Model struct {
	Family       string
	Context      int // In tokens; 0 = unknown.
	Capabilities []string
}

// Lookup describes a model by its name: family, context length and capabilities. Vendor
// prefixes ("openai/") are ignored. If nothing is known it returns false.
func Lookup(name string) (Model, bool) {
	key := canonical(name)
	var best *entry
	for i := range catalogue {
		e := &catalogue[i]
		if (best == nil || len(e.prefix) > len(best.prefix)) && matches(key, e.prefix) {
			best = e
		}
	}
	if best == nil {
		return Model{}, false
	}
	m := Model{Family: best.family, Context: best.context}
	for _, c := range capLetters {
		if strings.IndexByte(best.caps, c.letter) >= 0 {
			m.Capabilities = append(m.Capabilities, c.name)
		}
	}
	return m, true
}

// Hosted reports whether the models of a family have the same context length
// wherever they are offered.
func Hosted(family string) bool {
	return slices.Contains(hosted, family)
}

// canonical is lower case, without vendor, and without the hyphen that some names
// have before the version: llama-3.1 and llama3.1 are the same.
func canonical(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	name = name[strings.LastIndexByte(name, '/')+1:]
	if i := strings.Index(name, "claude"); i > 0 {
		name = name[i:] // us.anthropic.claude-...
	}
	name = strings.TrimPrefix(name, "meta-")
	b := make([]byte, 0, len(name))
	for i := range len(name) {
		c := name[i]
		if c == '_' || c == ' ' {
			c = '-'
		}
		if c == '-' && i > 0 && isLetter(name[i-1]) && i+1 < len(name) && isDigit(name[i+1]) {
			continue
		}
		b = append(b, c)
	}
	return string(b)
}

// matches reports whether key begins with prefix and the number at its end, if
// any, is whole: gpt4 does not match gpt4.9.
func matches(key, prefix string) bool {
	rest, ok := strings.CutPrefix(key, prefix)
	if !ok || rest == "" || !isDigit(prefix[len(prefix)-1]) {
		return ok
	}
	return !isDigit(rest[0]) && (rest[0] != '.' || len(rest) < 2 || !isDigit(rest[1]))
}

// Parameters reads the parameter count from a name such as "llama3:8b",
// "qwen2.5-0.5b", "mixtral-8x7b" or "Llama-3-70B". 0 if it states none.
func Parameters(name string) int64 {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("-:_ @/", r) }) {
		if n := size(part); n > 0 {
			return n
		}
	}
	return 0
}

// size reads one part of a name: "8b", "0.5b", "e4b", "8x7b", "270m".
func size(part string) int64 {
	unit := 0.0
	switch {
	case strings.HasSuffix(part, "b"):
		unit = 1e9
	case strings.HasSuffix(part, "m"):
		unit = 1e6
	default:
		return 0
	}
	part = strings.TrimPrefix(part[:len(part)-1], "e")
	factor := 1.0
	if experts, rest, ok := strings.Cut(part, "x"); ok {
		n, err := strconv.Atoi(experts)
		if err != nil || n < 1 || n > 1000 {
			return 0
		}
		factor, part = float64(n), rest
	}
	if part == "" || !isDigit(part[0]) || strings.Trim(part, "0123456789.") != "" {
		return 0
	}
	n, err := strconv.ParseFloat(part, 64)
	n *= factor
	// Below ten, "m" is a context length: glm-4-9b-chat-1m.
	if err != nil || n <= 0 || n > 100_000 || unit == 1e6 && n < 10 {
		return 0
	}
	return int64(n*unit + 0.5)
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
