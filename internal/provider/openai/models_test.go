package openai

import (
	"reflect"
	"testing"

	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/provider/providertest"
	"github.com/idelchi/aura/sdk"
)

// HO-28
func TestModels(t *testing.T) {
	tests := []struct {
		name, body string
		want       []sdk.ModelInfo
	}{
		{
			"openai",
			`{"object":"list","data":[{"id":"gpt-4o"},{"id":"another"}]}`,
			[]sdk.ModelInfo{
				{
					Name: "another",
				},
				{Name: "gpt-4o", Family: "gpt", ContextLength: 128000, Capabilities: []string{"vision", "tools"}},
			},
		},
		{
			"vllm",
			`{"data":[{"id":"meta-llama/Llama-3.1-8B","max_model_len":16384}]}`,
			[]sdk.ModelInfo{
				{
					Name:           "meta-llama/Llama-3.1-8B",
					Family:         "llama",
					ParameterCount: 8e9,
					ContextLength:  16384,
					Capabilities:   []string{"tools"},
				},
			},
		},
		{
			"llama.cpp",
			`{"models":[{"name":"x.gguf"}],"data":[{"id":"x.gguf","meta":{"n_ctx":4096,"n_ctx_train":32768,"n_params":7615616512}}]}`,
			[]sdk.ModelInfo{
				{Name: "x.gguf", ParameterCount: 7615616512, ContextLength: 4096}},
		},
		{
			"openrouter",
			`{"data":[{"id":"x/y","context_length":65536,"architecture":{"input_modalities":["text","image"]},"supported_parameters":["tools","reasoning"]}]}`,
			[]sdk.ModelInfo{
				{Name: "x/y", ContextLength: 65536, Capabilities: []string{"vision", "tools", "thinking"}}},
		},
		{
			"mistral",
			`{"data":[{"id":"z","max_context_length":32768,"capabilities":{"function_calling":true,"vision":false}}]}`,
			[]sdk.ModelInfo{
				{Name: "z", ContextLength: 32768, Capabilities: []string{"tools"}}},
		},
		{"bare list with rubbish", `[{"id":"b","context_length":"many"},5,{"id":3},{}]`, []sdk.ModelInfo{{Name: "b"}}},
		{"none", `{}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := providertest.Serve(t, step{Body: tt.body})
			got, err := client(t, srv.URL+"/v1", "").Models(t.Context())
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
			if r := srv.Last(); r.Method != "GET" || r.Path != "/v1/models" || r.Header.Get("Authorization") == "" {
				t.Errorf("request %+v", r)
			}
		})
	}
	t.Run("error", func(t *testing.T) {
		srv := providertest.Serve(t, step{Status: 401})
		if _, err := client(t, srv.URL, "").Models(t.Context()); provider.ClassOf(err) != provider.Auth {
			t.Errorf("got %v", err)
		}
	})
}

// HO-28
func TestModel(t *testing.T) {
	const list = `{"data":[{"id":"llama3.1:8b","max_model_len":4096},{"id":"my-13b","context_length":9000}]}`
	t.Run("the server is asked once", func(t *testing.T) {
		srv := providertest.Serve(t, step{Body: list})
		c := client(t, srv.URL, "")
		for name, context := range map[string]int{
			"my-13b": 9000, "llama3.1:8b": 4096, "unknown": 0, "mistral-7b": 32768,
		} {
			if got := c.Model(t.Context(), name); got.ContextLength != context || got.Name != name {
				t.Errorf("%s: got %+v", name, got)
			}
		}
	})
	t.Run("hosted models are known", func(t *testing.T) {
		srv := providertest.Serve(t)
		if got := client(t, srv.URL, "").Model(t.Context(), "anthropic/claude-sonnet-4"); got.ContextLength != 200000 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("one model under every name", func(t *testing.T) {
		srv := providertest.Serve(t, step{Body: `{"data":[{"id":"x.gguf","meta":{"n_ctx":4096}}]}`})
		if got := client(
			t,
			srv.URL,
			"",
		).Model(t.Context(), "default"); got.ContextLength != 4096 ||
			got.Name != "default" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a failure is no failure", func(t *testing.T) {
		srv := providertest.Serve(t, step{Status: 404})
		if got := client(t, srv.URL, "").Model(t.Context(), "my-13b"); got.ParameterCount != 13e9 {
			t.Errorf("got %+v", got)
		}
	})
}
