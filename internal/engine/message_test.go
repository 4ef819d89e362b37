package engine

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"
)

func TestAHeadSurvivesItsEncoding(t *testing.T) {
	for name, h := range map[string]Head{
		"empty": {},
		"full": {ID: "1", Time: time.Date(2026, 11, 22, 4, 5, 6, 789, time.UTC), Codec: "json", Request: "r\n", Metadata: map[string]string{"a\r\n": "\x00ü"},
			Only: "g", Dead: &Dead{Channel: "c", Group: "g", Sequence: 1 << 63, Attempts: 5, Code: "Internal", Reason: "\n", Time: time.Unix(1, 0).UTC(), Node: "n"}},
	} {
		text, err := AppendHead(nil, &h)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(string(text), func(r rune) bool { return r < ' ' }) {
			t.Errorf("%s: %q is not one line of printable characters", name, text)
		}
		got, err := ReadHead(text)
		if err != nil || got.ID != h.ID || !got.Time.Equal(h.Time) || got.Request != h.Request || !maps.Equal(got.Metadata, h.Metadata) || (got.Dead == nil) != (h.Dead == nil) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if h.Dead != nil && *got.Dead != *h.Dead {
			t.Errorf("%s: %+v", name, got.Dead)
		}
	}
}

func TestAHeadHasABound(t *testing.T) {
	h := Head{Metadata: map[string]string{"k": strings.Repeat("x", MaxHead)}}
	if _, err := AppendHead(nil, &h); !errors.Is(err, ErrTooLarge) {
		t.Errorf("written: %v", err)
	}
	if _, err := ReadHead([]byte(`{"id":"` + strings.Repeat("x", MaxHead) + `"}`)); err == nil {
		t.Error("read")
	}
}

func FuzzReadHead(f *testing.F) {
	f.Add([]byte(`{"id":"1","time":"2026-11-22T04:05:06Z","metadata":{"a":"b"},"dead":{"channel":"c","sequence":1}}`))
	f.Add([]byte(`{"time":"x"}`))
	f.Add([]byte(``))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := ReadHead(text)
		if err != nil {
			return
		}
		again, err := AppendHead(nil, &h)
		if err != nil {
			return // longer when written, or a year that JSON cannot hold
		}
		if second, err := ReadHead(again); err != nil || second.ID != h.ID || !maps.Equal(second.Metadata, h.Metadata) {
			t.Fatalf("%q was read as %+v, and written and read as %+v, %v", text, h, second, err)
		}
	})
}
