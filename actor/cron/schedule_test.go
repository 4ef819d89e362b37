package cron

import (
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

func TestClocksThatAreMoved(t *testing.T) {
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
