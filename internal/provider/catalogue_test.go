package provider

import (
	"strings"
	"testing"
)

// HO-28
func TestLookup(t *testing.T) {
	tests := []struct {
		name, family string
		context      int
		params       int64
		caps         string // Comma-separated.
	}{
		{"gpt-4o-mini", "gpt", 128000, 0, "vision,tools"},
		{"openai/gpt-4.1", "gpt", 1047576, 0, "vision,tools"},
		{"gpt-4", "gpt", 8192, 0, "tools"},
		{"gpt-5", "gpt", 400000, 0, "vision,tools,thinking,thinking_levels"},
		{"gpt-5.1-codex", "gpt", 400000, 0, "vision,tools,thinking,thinking_levels"},
		{"gpt-4.9", "gpt", 0, 0, "tools"},
		{"openai/gpt-oss-120b", "gpt-oss", 131072, 120e9, "tools,thinking,thinking_levels"},
		{"gpt-oss:20b", "gpt-oss", 131072, 20e9, "tools,thinking,thinking_levels"},
		{"o3-mini", "o", 200000, 0, "tools,thinking,thinking_levels"},
		{"o1-mini-2024-09-12", "o", 128000, 0, "thinking"},
		{"claude-3-5-sonnet-20241022", "claude", 200000, 0, "vision,tools"},
		{"anthropic/claude-3.7-sonnet", "claude", 200000, 0, "vision,tools,thinking,thinking_levels"},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude", 200000, 0, "vision,tools,thinking,thinking_levels"},
		{"models/gemini-2.5-pro", "gemini", 1048576, 0, "vision,tools,thinking,thinking_levels"},
		{"gemini-1.5-pro-002", "gemini", 2097152, 0, "vision,tools"},
		{"gemini-3-pro-preview", "gemini", 1048576, 0, "vision,tools,thinking,thinking_levels"},
		{"llama3:8b", "llama", 8192, 8e9, ""},
		{"llama3.1:70b-instruct-q4_K_M", "llama", 131072, 70e9, "tools"},
		{"meta-llama/Meta-Llama-3.1-8B-Instruct", "llama", 131072, 8e9, "tools"},
		{"Llama-3-70B", "llama", 8192, 70e9, ""},
		{"qwen2.5-0.5b", "qwen", 32768, 5e8, "tools"},
		{"Qwen/Qwen3-30B-A3B", "qwen", 40960, 30e9, "tools,thinking"},
		{"qwen3-coder:480b", "qwen", 262144, 480e9, "tools"},
		{"mixtral-8x7b-instruct", "mistral", 32768, 56e9, "tools"},
		{"gemma3:270m", "gemma", 131072, 270e6, "vision"},
		{"gemma-3n-e4b", "gemma", 32768, 4e9, ""},
		{"deepseek-r1:1.5b", "deepseek", 131072, 15e8, "tools,thinking"},
		{"glm-4-9b-chat-1m", "glm", 131072, 9e9, "tools"},
		{"nomic-embed-text", "nomic", 8192, 0, "embedding"},
		{"bge-reranker-v2-m3", "bge", 8192, 0, "reranking"},
	}
	for _, tt := range tests {
		info, ok := Lookup(tt.name)
		if !ok || info.Name != tt.name || info.Family != tt.family || info.ContextLength != tt.context ||
			info.ParameterCount != tt.params || strings.Join(info.Capabilities, ",") != tt.caps {
			t.Errorf("%s: got %+v", tt.name, info)
		}
	}
	for _, name := range []string{"", "/", "something", "o3000", "my-model:13b", "-", "\xff"} {
		if info, ok := Lookup(name); ok || info.Name != name {
			t.Errorf("%q: got %+v", name, info)
		}
	}
}
