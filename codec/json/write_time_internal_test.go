package json

import (
	"testing"
	"time"
)

func TestTimesInUTCAreWrittenAsTheStandardLibraryDoes(t *testing.T) {
	nanos := []int64{0, 1, 999_999_999, 123_000_000, 100, 500_000_000, 10}
	i := 0
	for seconds := int64(firstSecond); seconds <= lastSecond; seconds += 86399 * 41 { // in no step with the days
		checkWritten(t, seconds, nanos[i%len(nanos)])
		i++
	}
	for _, seconds := range []int64{firstSecond - 1, firstSecond, lastSecond, lastSecond + 1, 0, -1, 951_782_399, 951_782_400, 951_868_800} {
		checkWritten(t, seconds, 0)
	}
}

func FuzzTimesWritten(f *testing.F) {
	f.Add(int64(1688931186), int64(123_000_000))
	f.Add(int64(firstSecond), int64(1))
	f.Fuzz(checkWritten)
}

// checkWritten wants what the standard library writes, in UTC and elsewhere.
func checkWritten(t *testing.T, seconds, nanos int64) {
	t.Helper()
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("", 3600), time.FixedZone("", 0)} {
		at := time.Unix(seconds, nanos).In(zone)
		want, err := at.AppendText([]byte("x"))
		got, ok := appendTime([]byte("x"), &at)
		if ok != (err == nil) || ok && string(got) != string(want) {
			t.Fatalf("%d.%09d in %v: %s, %v; want %s, %v", seconds, nanos, zone, got, ok, want, err)
		}
	}
}

func BenchmarkAppendTime(b *testing.B) {
	at := time.Date(2023, 7, 9, 19, 33, 6, 123_000_000, time.UTC)
	buffer := make([]byte, 0, 64)
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			appendTime(buffer, &at)
		}
	})
	b.Run("time.AppendText", func(b *testing.B) {
		for b.Loop() {
			at.AppendText(buffer)
		}
	})
}
