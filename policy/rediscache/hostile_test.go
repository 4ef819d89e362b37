package rediscache_test

import (
	"strings"
	"testing"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/policy/rediscache"
)

// Whatever was written over a cache's keys, calls are answered, the log reports it, and the next answer is kept again.
func TestWhatNoCacheHasWrittenIsNoAnswerAndIsReplaced(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	raw := client(t, url)
	do := func(arguments ...string) func(key string) rueidis.Completed {
		return func(key string) rueidis.Completed {
			return raw.B().Arbitrary(arguments[0]).Keys(key).Args(arguments[1:]...).Build()
		}
	}
	del := do("DEL")
	const cleaned, answer = "test:cleaned", "test:answer:*"
	for _, test := range []struct {
		name, key string
		before    func(string) rueidis.Completed
		then      func(string) rueidis.Completed
	}{
		{"a short answer", answer, nil, do("SET", "\x01")},
		{"an answer in another layout", answer, nil, do("SET", "\x02...............")},
		{"an answer above the limit", answer, nil, do("SET", strings.Repeat("\x01", 1<<21))},
		{"a list for an answer", answer, del, do("RPUSH", "x")},
		{"an answer of which the half is lost", answer, nil, do("SETRANGE", "9", "\xff\xff\xff\xff\xff\xff\xff\xff\xff")},
		{"a string for the patterns", cleaned, del, do("SET", "x")},
		{"a set for the patterns", cleaned, del, do("SADD", ".", "**")},
		{"a moment that is no number", cleaned, nil, do("HSET", ".", "x")},
		{"a moment that is too late for numbers in Lua", cleaned, nil, do("HSET", ".", "9007199254740993")},
		{"an endless moment", cleaned, nil, do("HSET", ".", "inf")},
		{"a negative moment", cleaned, nil, do("HSET", ".", "-1")},
		{"a pattern that is none", cleaned, nil, do("HSET", "a*b", "1", ".", "5")},
		{"a pattern whose moment is no number", cleaned, nil, do("HSET", "users.*", "", ".", "5")},
		{"an empty field", cleaned, nil, do("HSET", "", "5", ".", "5")},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r runs
			n := newNode(t, open(t, url), r.handler)
			n.get(t, "ada")
			n.clean(t, "nobody.*") // forces the patterns to be read again
			keys, err := raw.Do(t.Context(), raw.B().Keys().Pattern(test.key).Build()).AsStrSlice()
			if err != nil || len(keys) != 1 {
				t.Fatalf("got the keys %q, %v", keys, err)
			}
			for _, build := range []func(string) rueidis.Completed{test.before, test.then} {
				if build == nil {
					continue
				}
				if err := raw.Do(t.Context(), build(keys[0])).Error(); err != nil {
					t.Fatal(err)
				}
			}
			if n.get(t, "ada") == 1 {
				t.Error("it was taken for an answer, or for nothing that matters")
			}
			if !strings.Contains(n.log.String(), "cache") {
				t.Errorf("the log does not tell: %s", n.log)
			}
			n.get(t, "ada")
			if a, b := n.get(t, "ada"), n.get(t, "ada"); a != b {
				t.Errorf("runs %d and %d: it is not replaced", a, b)
			}
			if err := raw.Do(t.Context(), raw.B().Flushall().Build()).Error(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestAMomentBeyondWhichThereIsNoneIsGotOver(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	raw := client(t, url)
	var r runs
	a, b := newNode(t, open(t, url), r.handler), newNode(t, open(t, url), r.handler)
	a.get(t, "ada")
	if err := raw.Do(t.Context(), raw.B().Hset().Key("test:cleaned").FieldValue().FieldValue(".", "4503599627370495").Build()).Error(); err != nil {
		t.Fatal(err)
	}
	a.get(t, "ada")
	b.get(t, "ada")
	if err := a.cache.Invalidate(t.Context(), "users.*"); err == nil {
		t.Error("there is no error")
	}
	a.clean(t, "users.*")
	for _, n := range []*node{a, b, a, b} {
		if n.get(t, "ada") == 1 {
			t.Error("the answer from before the cleaning is there")
		}
	}
	if x, y := a.get(t, "bob"), b.get(t, "bob"); x != y {
		t.Errorf("runs %d and %d: nothing is kept any more", x, y)
	}
}

func FuzzWhatIsUnderAnAnswersKey(f *testing.F) {
	f.Add([]byte{}, uint64(0))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00\x05answer"), uint64(5))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00"), uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, age uint64) {
		kept := rediscache.ReadAnswer(string(data), age)
		switch {
		case kept.Found && (kept.Err != nil || kept.Generation != age || len(kept.Answer.([]byte)) != len(data)-9):
			t.Errorf("%+v of %q", kept, data)
		case !kept.Found && kept.Answer != nil:
			t.Errorf("%+v of %q", kept, data)
		}
	})
}

func FuzzWhatIsUnderTheKeyOfCleanings(f *testing.F) {
	f.Add(".", "1759000000000000", "**", "1759000000000000")
	f.Add("users.*", "1", "x", "y")
	f.Fuzz(func(t *testing.T, a, x, b, y string) {
		last, err := rediscache.ReadCleanings(map[string]string{a: x, b: y})
		for pattern, at := range last {
			if err != nil || at >= 1<<52 || pattern == "." {
				t.Errorf("%q: %d, %v", pattern, at, err)
			}
		}
	})
}
