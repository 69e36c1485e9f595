package commands

import "context"

func exit(context.Context, *Session) error { return ErrExit }
