package commands

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/idelchi/aura/internal/wording"
)

const traceDetails = `One line for each handler that ran: when, at which moment, who, with which
verdict, for how long, and what it changed or why it refused. The latest 30 are
shown, or as many as you say.`

// traced is how many records are shown unless a number is given.
const traced = 30

func trace(_ context.Context, s *Session, args string) error {
	limit := traced
	if args != "" {
		n, err := strconv.Atoi(args)
		if err != nil || n < 1 {
			return fmt.Errorf("trace: %q is not a whole number, 1 or greater", clip(args, 40))
		}
		limit = n
	}
	records := s.Agent.Pipeline().Records()
	if len(records) == 0 {
		s.Print("no handler has run yet")
		return nil
	}
	records = records[max(len(records)-limit, 0):]
	rows := make([][]string, len(records))
	for i, r := range records {
		rows[i] = []string{
			r.Time.Local().Format(time.TimeOnly), string(r.Moment), r.Source.String(), string(r.Verdict),
			roundTime(r.Duration).String(), clip(r.Detail, 200),
		}
	}
	s.Print(wording.Columns("", rows))
	return nil
}

// roundTime keeps about three digits.
func roundTime(d time.Duration) time.Duration {
	for unit := time.Second; unit > time.Nanosecond; unit /= 1000 {
		if d >= unit {
			return d.Round(unit / 100)
		}
	}
	return d
}
