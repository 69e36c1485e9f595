package vendored

import (
	"context"

	"example.com/me/vendored/internal/own"
	"example.com/words"
	"github.com/idelchi/aura/sdk"
)

func BeforeChat(context.Context, sdk.BeforeChatContext) (sdk.Result, error) {
	return sdk.Result{Message: own.Loud(words.First([]string{"vendored", "x"}))}, nil
}
