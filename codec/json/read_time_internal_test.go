package json

import (
	"fmt"
	"testing"
	"time"
)

func TestTimesInUTCAreReadAsTheStandardLibraryDoes(t *testing.T) {
	for year := range 10_000 {
		for _, day := range []string{"01-01", "02-28", "02-29", "03-01", "12-31"} {
			checkUTC(t, fmt.Sprintf("%04d-%sT23:59:59Z", year, day))
		}
	}
	for month := range 15 {
		for day := range 34 {
			checkUTC(t, fmt.Sprintf("2023-%02d-%02dT00:00:00.5Z", month, day))
			checkUTC(t, fmt.Sprintf("2024-%02d-%02dT00:00:00.5Z", month, day))
		}
	}
	for _, text := range []string{
		"2023-07-09T19:33:06Z", "2023-07-09T19:33:06.1Z", "2023-07-09T19:33:06.12Z", "2023-07-09T19:33:06.123Z", "2023-07-09T19:33:06.123456789Z",
		"2023-07-09T19:33:06.000000001Z", "2023-07-09T19:33:06.1234567891Z", "2023-07-09T19:33:06.Z", "2023-07-09T19:33:06.1x3Z", "2023-07-09T19:33:06,123Z",
		"2023-07-09T24:00:00Z", "2023-07-09T23:60:00Z", "2023-07-09T23:59:60Z", "2023-07-09t19:33:06Z", "2023-07-09T19:33:06z", "2023-07-09 19:33:06Z",
		"2023-7-09T19:33:06Z", "+023-07-09T19:33:06Z", "2023-07-09T1:33:06.0Z", "2023-07-09T19:33:06+00:00", "2023-07-09T19:33:06-07:00", "", "Z",
	} {
		checkUTC(t, text)
	}
}

// checkUTC wants what readUTC reads to be what the slower way reads, and no more of it than is right. The other way round, it
// may leave out only what has no Z or too many digits.
func checkUTC(t *testing.T, text string) {
	t.Helper()
	want, right := readAnyTime([]byte(text))
	got, ok := readUTC([]byte(text))
	if ok && (!right || got != want) {
		t.Errorf("%q: got %v, want %v, %v", text, got, want, right)
	}
	if right && !ok && text[len(text)-1] == 'Z' && len(text) <= len("2006-01-02T15:04:05.999999999Z") {
		t.Errorf("%q is left to the slower way", text)
	}
}

func FuzzTimesInUTC(f *testing.F) {
	f.Add("2023-07-09T19:33:06.123Z")
	f.Add("0000-02-29T00:00:00Z")
	f.Fuzz(checkUTC)
}

func BenchmarkReadTime(b *testing.B) {
	raw := []byte("2023-07-09T19:33:06.123Z")
	read := func(b *testing.B, f func([]byte) (time.Time, bool)) {
		for b.Loop() {
			if _, ok := f(raw); !ok {
				b.Fatal("not read")
			}
		}
	}
	b.Run("here", func(b *testing.B) { read(b, readTime) })
	b.Run("time.UnmarshalText", func(b *testing.B) { read(b, readAnyTime) })
}
