package cron

import (
	"fmt"
	"strings"
	"time"

	parser "github.com/netresearch/go-cron"
)

// schedule computes the times of a job.
type schedule interface {
	// Next is the first time after t; zero for none.
	Next(t time.Time) time.Time
}

// maxSpec bounds expressions, in bytes.
const maxSpec = 1000

// expressions reads them as crontab(5) has it: where both the day of the month and the day of the week are restricted, either will do.
// The parser's own default is that both must match, which no other cron does.
var expressions = parser.MustNewParser(parser.SecondOptional | parser.Minute | parser.Hour | parser.Dom | parser.Month | parser.Dow | parser.DowOrDom | parser.Descriptor)

// parse reads an expression.
func parse(spec string, location *time.Location) (schedule, error) {
	if location == nil {
		location = time.UTC
	}
	if len(spec) > maxSpec {
		return nil, fmt.Errorf("cron: an expression has at most %d bytes", maxSpec)
	}
	read, err := expressions.Parse(spec)
	if err != nil {
		return nil, fmt.Errorf("cron: the expression %q: %w", spec, err)
	}
	fields, ok := read.(*parser.SpecSchedule)
	if !ok {
		return read, nil
	}
	if !strings.Contains(spec, "TZ=") {
		fields.Location = location
	}
	if fields.Next(time.Now()).IsZero() {
		return nil, fmt.Errorf("cron: the expression %q names a date that never comes, such as 30 February", spec)
	}
	return wallClock{fields}, nil
}

// wallClock is an expression of a location, in which hours may come twice.
type wallClock struct{ *parser.SpecSchedule }

const everyHour = 1<<24 - 1

func (w wallClock) Next(t time.Time) time.Time {
	at := w.SpecSchedule.Next(t)
	for w.Hour&everyHour != everyHour && !at.IsZero() && inRepeatedHour(at.In(w.Location)) {
		at = w.SpecSchedule.Next(at)
	}
	return at
}

// inRepeatedHour reports whether t lies in an hour that comes twice, because clocks were moved back, and comes the second time.
func inRepeatedHour(t time.Time) bool {
	const longest = 3 * time.Hour // that clocks are moved by at once
	_, now := t.Zone()
	_, before := t.Add(-longest).Zone()
	if before <= now {
		return false
	}
	_, then := t.Add(-time.Duration(before-now) * time.Second).Zone()
	return then == before
}

// every repeats at equal intervals from a start.
type every struct {
	start    time.Time
	interval time.Duration
}

func (e every) Next(t time.Time) time.Time {
	if t.Before(e.start) {
		return e.start.Add(e.interval)
	}
	return e.start.Add((t.Sub(e.start)/e.interval + 1) * e.interval)
}
