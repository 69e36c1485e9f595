// Package schedule is the language in which users say when something runs by itself, such as
// "every: 30m" or "weekly: mon 03:00". It works times out and runs nothing.
package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"

	"github.com/idelchi/aura/internal/wording"
)

// shortest is the least time between two runs; less would do nothing but run.
const shortest = 10 * time.Millisecond

// Schedule says when something runs by itself. The zero value is never.
type Schedule struct {
	kind string
	text string

	interval time.Duration
	once     time.Time
	weekdays []time.Weekday
	days     []int // Of the month; -1 is the last.
	times    []gocron.AtTime
}

// ErrPast is the error of a schedule whose only time has passed.
var ErrPast = errors.New("its time has passed")

// form is a kind of schedule: how it is written and read.
type form struct {
	kind, example string
	read          func(*Schedule, string) error
}

var forms = []form{
	{"cron", `"0 3 * * *"`, (*Schedule).readCron},
	{"every", "30m", (*Schedule).readEvery},
	{"daily", "03:00", (*Schedule).readDaily},
	{"weekly", "mon 03:00", (*Schedule).readWeekly},
	{"monthly", "1 03:00", (*Schedule).readMonthly},
	{"once", "2026-01-02T15:04", (*Schedule).readOnce},
}

// Parse reads a schedule as YAML gives it: a mapping with one key such as
// {every: 30m}, or the same as text, "every: 30m". nil and "" are the zero Schedule.
func Parse(v any) (Schedule, error) {
	kind, value := "", any(nil)
	switch v := v.(type) {
	case nil:
		return Schedule{}, nil
	case string:
		if strings.TrimSpace(v) == "" {
			return Schedule{}, nil
		}
		k, text, ok := strings.Cut(v, ":")
		if !ok {
			return Schedule{}, fmt.Errorf("%q is not a schedule (such as every: 30m)", wording.Short(v))
		}
		kind, value = strings.TrimSpace(k), text
	case map[string]any:
		if len(v) != 1 {
			return Schedule{}, fmt.Errorf("needs exactly one of %s", strings.Join(kinds(), ", "))
		}
		for kind, value = range v {
		}
	default:
		return Schedule{}, fmt.Errorf("want a mapping such as {every: 30m}")
	}
	return parseForm(kind, value)
}

func parseForm(kind string, value any) (Schedule, error) {
	i := slices.IndexFunc(forms, func(f form) bool { return f.kind == kind })
	if i < 0 {
		hint := cmp.Or(wording.DidYouMean(kind, kinds()), "kinds: "+strings.Join(kinds(), ", "))
		return Schedule{}, fmt.Errorf("no schedule %q (%s)", wording.Short(kind), hint)
	}
	text, ok := value.(string)
	if seconds, whole := value.(int); whole && kind == "every" {
		text, ok = strconv.Itoa(seconds)+"s", true
	}
	text = strings.Join(strings.Fields(text), " ")
	s := Schedule{kind: kind, text: text}
	if !ok || text == "" {
		return Schedule{}, fmt.Errorf("%s: want text such as %s", kind, forms[i].example)
	}
	if err := forms[i].read(&s, text); err != nil {
		return Schedule{}, fmt.Errorf("%s: %w", kind, err)
	}
	return s, nil
}

func kinds() []string {
	var list []string
	for _, f := range forms {
		list = append(list, f.kind)
	}
	return list
}

func (s *Schedule) readCron(text string) error {
	if n := len(strings.Fields(text)); n != 5 || strings.Contains(text, "=") {
		return fmt.Errorf("%q is not five fields: minute, hour, day of month, month, day of week", wording.Short(text))
	}
	err := gocron.NewDefaultCron(false).IsValid(text, time.UTC, time.Now())
	switch {
	case errors.Is(err, gocron.ErrCronJobInvalid):
		return fmt.Errorf("%q never happens", wording.Short(text))
	case err != nil:
		_, why, _ := strings.Cut(err.Error(), "\n")
		return fmt.Errorf("%q is wrong: %s", wording.Short(text), why)
	}
	return nil
}

func (s *Schedule) readEvery(text string) (err error) {
	if s.interval, err = time.ParseDuration(text); err != nil {
		return fmt.Errorf("%q is not a duration such as 30m", wording.Short(text))
	}
	if s.interval < shortest {
		return fmt.Errorf("%s is too short (at least %s)", text, shortest)
	}
	return nil
}

func (s *Schedule) readDaily(text string) error { return s.readTimes(text) }

func (s *Schedule) readWeekly(text string) error {
	days, times, _ := strings.Cut(text, " ")
	for name := range strings.SplitSeq(days, ",") {
		day, ok := weekday(name)
		if !ok {
			return fmt.Errorf("%q is no day of the week (such as mon)", wording.Short(name))
		}
		s.weekdays = append(s.weekdays, day)
	}
	return s.readTimes(times)
}

func weekday(name string) (time.Weekday, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(name, d.String()) || strings.EqualFold(name, d.String()[:3]) {
			return d, true
		}
	}
	return 0, false
}

func (s *Schedule) readMonthly(text string) error {
	days, times, _ := strings.Cut(text, " ")
	for word := range strings.SplitSeq(days, ",") {
		day, err := strconv.Atoi(word)
		if strings.EqualFold(word, "last") {
			day, err = -1, nil
		} else if day < 1 || day > 31 {
			err = errors.New("out of range")
		}
		if err != nil {
			return fmt.Errorf("%q is no day of the month (1 to 31, or last)", wording.Short(word))
		}
		s.days = append(s.days, day)
	}
	return s.readTimes(times)
}

// readTimes reads times of the day, "03:00" or "03:00,15:00".
func (s *Schedule) readTimes(text string) error {
	if text == "" {
		return errors.New("the time is missing (such as 03:00)")
	}
	for word := range strings.SplitSeq(text, ",") {
		at, err := time.Parse("15:04", word)
		if err != nil {
			return fmt.Errorf("%q is no time of the day (such as 03:00)", wording.Short(word))
		}
		s.times = append(s.times, gocron.NewAtTime(uint(at.Hour()), uint(at.Minute()), 0))
	}
	return nil
}

func (s *Schedule) readOnce(text string) error {
	for _, layout := range []string{
		"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", time.RFC3339,
	} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			s.once = at
			return nil
		}
	}
	return fmt.Errorf("%q is no date with a time (such as 2026-01-02T15:04)", wording.Short(text))
}

// IsZero reports whether there is no schedule.
func (s Schedule) IsZero() bool { return s.kind == "" }

// Once reports whether the schedule has one time only.
func (s Schedule) Once() bool { return s.kind == "once" }

// String is the schedule as it is written, "every: 30m"; empty for none.
func (s Schedule) String() string {
	if s.IsZero() {
		return ""
	}
	return s.kind + ": " + s.text
}

// Next is the first time after now, in the time zone of now. A schedule whose only
// time has passed is ErrPast.
func (s Schedule) Next(now time.Time) (time.Time, error) {
	if s.IsZero() {
		return time.Time{}, errors.New("no schedule")
	}
	scheduler, err := gocron.NewScheduler(
		gocron.WithClock(clockwork.NewFakeClockAt(now)),
		gocron.WithLocation(now.Location()),
	)
	if err != nil {
		return time.Time{}, err
	}
	defer func() { _ = scheduler.Shutdown() }()
	job, err := scheduler.NewJob(s.Job(), gocron.NewTask(func() {}))
	if errors.Is(err, gocron.ErrOneTimeJobStartDateTimePast) {
		return time.Time{}, ErrPast
	}
	if err != nil {
		return time.Time{}, err
	}
	scheduler.Start()
	return job.NextRun()
}

// Job is the schedule as the scheduler knows it.
func (s Schedule) Job() gocron.JobDefinition {
	switch s.kind {
	case "cron":
		return gocron.CronJob(s.text, false)
	case "every":
		return gocron.DurationJob(s.interval)
	case "once":
		return gocron.OneTimeJob(gocron.OneTimeJobStartDateTime(s.once))
	}
	times := gocron.NewAtTimes(s.times[0], s.times[1:]...)
	switch s.kind {
	case "daily":
		return gocron.DailyJob(1, times)
	case "weekly":
		return gocron.WeeklyJob(1, gocron.NewWeekdays(s.weekdays[0], s.weekdays[1:]...), times)
	}
	return gocron.MonthlyJob(1, gocron.NewDaysOfTheMonth(s.days[0], s.days[1:]...), times)
}
