package commands

import "context"

func compact(ctx context.Context, s *Session) error {
	before := s.Agent.Snapshot().Stats.Compactions
	if err := s.Agent.Compact(ctx); err != nil {
		return err
	}
	// The agent itself tells what it did.
	if s.Agent.Snapshot().Stats.Compactions == before {
		s.Print("not compacted: a handler of before_compaction said skip (see /trace)")
	}
	return nil
}
