package schedule_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/schedule"
)

func TestScheduleNext(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		berlin = time.UTC
	}
	// A Sunday.
	now := time.Date(2026, 2, 1, 12, 30, 0, 0, time.UTC)
	for _, tt := range []struct {
		schedule any
		now      time.Time
		want     string
	}{
		{"cron: 0 3 * * *", now, "2026-02-02 03:00:00"},
		{map[string]any{"cron": "*/5 * * * *"}, now, "2026-02-01 12:35:00"},
		{"cron: 0 12 * * 1-5", now, "2026-02-02 12:00:00"},
		{"every: 30m", now, "2026-02-01 13:00:00"},
		{map[string]any{"every": 90}, now, "2026-02-01 12:31:30"},
		{"daily: 03:00", now, "2026-02-02 03:00:00"},
		{"daily: 12:30", now, "2026-02-02 12:30:00"},
		{"daily: 15:00,03:00", now, "2026-02-01 15:00:00"},
		{"weekly: mon 03:00", now, "2026-02-02 03:00:00"},
		{"weekly: Sunday 03:00", now, "2026-02-08 03:00:00"},
		{"weekly: fri,tue 18:00", now, "2026-02-03 18:00:00"},
		{"monthly: 1 03:00", now, "2026-03-01 03:00:00"},
		{"monthly: 31 03:00", now, "2026-03-31 03:00:00"},
		{"monthly: last 03:00", now, "2026-02-28 03:00:00"},
		{"monthly: 15,10 03:00", now, "2026-02-10 03:00:00"},
		// The day the clock jumps.
		{"daily: 03:00", time.Date(2026, 3, 28, 12, 0, 0, 0, berlin), "2026-03-29 03:00:00"},
	} {
		s, err := schedule.Parse(tt.schedule)
		if err != nil {
			t.Errorf("%v: %v", tt.schedule, err)
			continue
		}
		next, err := s.Next(tt.now)
		if err != nil || next.Format(time.DateTime) != tt.want {
			t.Errorf("%s: %s, want %s (%v)", s, next.Format(time.DateTime), tt.want, err)
		}
	}
}

func TestScheduleOnce(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"2026-01-02T15:04", "2026-01-02 15:04", "2026-01-02T15:04:00"} {
		s, err := schedule.Parse(map[string]any{"once": text})
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 1, 2, 15, 4, 0, 0, time.Local)
		if next, err := s.Next(at.Add(-time.Hour)); err != nil || !next.Equal(at) {
			t.Errorf("%s: %s, %v", s, next, err)
		}
		if _, err := s.Next(at); !errors.Is(err, schedule.ErrPast) {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestScheduleMistakes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schedule any
		want     string
	}{
		{"soon", "is not a schedule"},
		{"hourly: 1", `no schedule "hourly" (kinds:`},
		{5, "want a mapping"},
		{[]any{"every: 1m"}, "want a mapping"},
		{map[string]any{}, "needs exactly one of cron, every"},
		{map[string]any{"every": true}, "want text such as 30m"},
		{map[string]any{"daily": 3}, "want text such as 03:00"},
		{"every:", "want text"},
		{"every: soon", "is not a duration"},
		{"every: -5m", "too short"},
		{"every: 1ns", "too short (at least 10ms)"},
		{"cron: 0 3 * *", "is not five fields"},
		{"cron: 0 0 3 * * *", "is not five fields"},
		{"cron: @daily", "is not five fields"},
		{"cron: TZ=UTC * * * *", "is not five fields"},
		{"cron: 99 3 * * *", "is wrong"},
		{"cron: 0 0 31 2 *", "never happens"},
		{"daily: 25:00", "is no time of the day"},
		{"daily: 3pm", "is no time of the day"},
		{"weekly: 03:00", "is no day of the week"},
		{"weekly: mon", "the time is missing"},
		{"weekly: mon,nday 03:00", `"nday" is no day`},
		{"monthly: 0 03:00", "is no day of the month"},
		{"monthly: 32 03:00", "is no day of the month"},
		{"monthly: first 03:00", "is no day of the month"},
		{"once: tomorrow", "is no date with a time"},
		{"once: 2026-01-02", "is no date with a time"},
	} {
		if _, err := schedule.Parse(tt.schedule); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.schedule, err, tt.want)
		}
	}
	for _, none := range []any{nil, "", " "} {
		if s, err := schedule.Parse(none); err != nil || !s.IsZero() || s.String() != "" {
			t.Errorf("%q: %v, %v", none, s, err)
		}
	}
}
