package httpaccess

import (
	"fmt"
	"strings"
	"testing"
)

const one, two = "one-key-of-a-server", "two-key-of-a-server"

func TestAnyOfTheKeysOpensUntilTheyAreReplaced(t *testing.T) {
	k := NewKeys(two, "", one)
	if !k.Opens("Bearer "+one) || !k.Opens("bearer  "+two) || k.Opens("Basic "+one) || k.Opens("Bearer "+one+two) || k.Opens("") || k.First() != two {
		t.Error("one of them does not open, or something else does")
	}
	k.Replace(two)
	if k.Opens("Bearer "+one) || !k.Opens("Bearer "+two) {
		t.Error("they were not replaced")
	}
	for _, none := range []*Keys{nil, NewKeys(), NewKeys("")} {
		if !none.None() || none.Opens("Bearer ") || none.Opens("") || none.Fits("") || none.First() != "" || none.Shortest() != 0 || none.Check() != nil {
			t.Error("none are some")
		}
	}
}

func TestKeysBecomeOnlyWhatTheServerWouldHaveTaken(t *testing.T) {
	for _, c := range []struct {
		now, next []string
		problem   string
	}{
		{[]string{one}, []string{two, one}, ""},
		{[]string{"short"}, []string{"other"}, ""},
		{[]string{one}, []string{two, "short"}, "a key of 5 characters"},
		{[]string{one}, []string{"a key with spaces in it"}, "has a space"},
		{[]string{one}, nil, "begin or cease"},
		{nil, []string{one}, "begin or cease"},
	} {
		err := NewKeys(c.now...).MayBecome(c.next...)
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%q to %q: %v", c.now, c.next, err)
		}
	}
}

func TestKeysDoNotShow(t *testing.T) {
	if text := fmt.Sprintf("%+v %#v", NewKeys(one), *NewKeys(one).list.Load()); strings.Contains(text, one) {
		t.Error(text)
	}
}
