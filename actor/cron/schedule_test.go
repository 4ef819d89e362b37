package cron

import (
	"strings"
	"testing"
	"time"
)

// in is a time in a zone, which is to be known.
func in(t testing.TB, zone, text string) time.Time {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.ParseInLocation("2006-01-02 15:04 -0700", text, location)
	if err != nil {
		t.Fatal(err)
	}
	return at.In(location)
}

func TestTimesOfExpressions(t *testing.T) {
	const newYork, berlin = "America/New_York", "Europe/Berlin"
	for name, c := range map[string]struct {
		zone, spec, from string
		want             []string
	}{
		"an hour that is left out: an hour later": {newYork, "30 2 * * *", "2026-03-07 12:00 -0500",
			[]string{"2026-03-08 03:30 -0400", "2026-03-09 02:30 -0400"}},
		"an hour that is left out, all hours": {newYork, "0,30 * * * *", "2026-03-08 01:00 -0500",
			[]string{"2026-03-08 01:30 -0500", "2026-03-08 03:00 -0400", "2026-03-08 03:30 -0400"}},
		"an hour that comes twice: the first time": {newYork, "30 1 * * *", "2026-10-31 12:00 -0400",
			[]string{"2026-11-01 01:30 -0400", "2026-11-02 01:30 -0500"}},
		"an hour that comes twice, in Berlin": {berlin, "30 2 * * *", "2026-10-24 12:00 +0200",
			[]string{"2026-10-25 02:30 +0200", "2026-10-26 02:30 +0100"}},
		"an hour that comes twice, all hours": {newYork, "0 * * * *", "2026-11-01 00:30 -0400",
			[]string{"2026-11-01 01:00 -0400", "2026-11-01 01:00 -0500", "2026-11-01 02:00 -0500"}},
		"a day of the month or of the week": {berlin, "0 6 1,15 * MON", "2026-11-13 12:00 +0100",
			[]string{"2026-11-15 06:00 +0100", "2026-11-16 06:00 +0100", "2026-11-23 06:00 +0100", "2026-11-30 06:00 +0100", "2026-12-01 06:00 +0100"}},
		"a day of the week of any month": {berlin, "0 6 * * 7", "2026-11-13 12:00 +0100", []string{"2026-11-15 06:00 +0100", "2026-11-22 06:00 +0100"}},
		"after the hour that comes twice": {newYork, "0 2 * * SAT", "2026-10-31 02:00 -0400",
			[]string{"2026-11-07 02:00 -0500"}},
	} {
		t.Run(name, func(t *testing.T) {
			at := in(t, c.zone, c.from)
			s, err := parse(c.spec, at.Location())
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if at = s.Next(at); !at.Equal(in(t, c.zone, want)) {
					t.Fatalf("%s, not %s", at, want)
				}
			}
		})
	}
}

func TestAnExpressionThatNeverComesTrueIsRefused(t *testing.T) {
	for spec, comes := range map[string]bool{
		"0 0 30 2 *": false, "0 0 31 2,4,6 *": false, "0 0 29 2 *": true, "0 0 31 4 MON": true, "0 0 31 * *": true,
	} {
		if _, err := parse(spec, nil); (err == nil) != comes || err != nil && !strings.Contains(err.Error(), "never comes") {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

func FuzzExpressionsAreRefusedOrGoForward(f *testing.F) {
	for _, spec := range []string{"* * * * *", "TZ=0", "TZ=TZ=TZ=", "@every 1h", "*/5 1-3 1,15 JAN MON", "CRON_TZ=Asia/Tokyo 1 1 * * *", "0 0 31 2 *", "@reboot", "59 23 31 12 7", "*/0 * * * *"} {
		f.Add(spec)
	}
	from := time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, spec string) {
		s, err := parse(spec, nil)
		if err != nil {
			return
		}
		for at, i := from, 0; i < 3; i++ {
			following := s.Next(at)
			if following.IsZero() {
				return
			}
			if !following.After(at) {
				t.Fatalf("%q: after %s comes %s", spec, at, following)
			}
			at = following
		}
	})
}
