package bench

import (
	"testing"
	"time"
)

func TestStatOfAProcessIsRead(t *testing.T) {
	group, cpu, err := parseStat("42 (a (b) c) S 1 40 40 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 100 0 0")
	if err != nil || group != 40 || cpu != time.Second {
		t.Errorf("group %d, CPU %v, %v; want 40 and 1s", group, cpu, err)
	}
	for _, text := range []string{"", "42 (a) S", "42 (a) S 1 x 40 0 -1 4194560 1 2 3 4 10 20 30 40 20", "42 (a) S 1 40 40 0 -1 4194560 1 2 3 4 10 20 x 40 20"} {
		if _, _, err := parseStat(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestBusyTimeOfTheMachineIsRead(t *testing.T) {
	busy, err := parseBusy("cpu  100 100 100 9999 9999 9999 9999 100 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
	if err != nil || busy != 4*time.Second {
		t.Errorf("busy for %v, %v; want 4s: user, nice, system and steal", busy, err)
	}
	for _, text := range []string{"", "cpu 1 2", "cpu x 100 100 9999 9999 9999 9999 100 0 0"} {
		if _, err := parseBusy(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add("42 (a (b) c) S 1 40 40 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 100 0 0")
	f.Fuzz(func(t *testing.T, text string) {
		parseStat(text)
		parseBusy(text)
	})
}
