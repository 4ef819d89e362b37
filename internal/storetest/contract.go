package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/grainstore"
)

func nothing(s suite, t *testing.T) {
	st := s.open(t)
	if entry := load(t, st, "suite.nothing", "k"); entry.Revision != 0 || entry.State != nil {
		t.Fatalf("got %+v", entry)
	}
}

func roundTrip(s suite, t *testing.T) {
	st, kind := s.open(t), "suite.trip"
	revision := uint64(0)
	for _, state := range []string{"one", "", "\x00\r\n\xff", strings.Repeat("x", cmp.Or(s.Largest, 300_000)), "five"} {
		revision = save(t, st, kind, "k", state, revision)
		want(t, st, kind, "k", state, revision)
	}
}

func fenced(s suite, t *testing.T) {
	st, kind := s.open(t), "suite.fenced"
	_, err := st.Save(t.Context(), kind, "none", []byte("x"), 7)
	mustBe(t, err, store.ErrFenced)
	want(t, st, kind, "none", "", 0)
	first := save(t, st, kind, "k", "one", 0)
	second := save(t, st, kind, "k", "two", first)
	for _, revision := range []uint64{0, 1, first, second - 1, second + 1, 1<<64 - 1} {
		_, err := st.Save(t.Context(), kind, "k", []byte("wrong"), revision)
		mustBe(t, err, store.ErrFenced)
		if errors.Is(err, store.ErrOutcomeUnknown) {
			t.Fatalf("revision %d: %v", revision, err)
		}
	}
	want(t, st, kind, "k", "two", second)
}

func deleteFenced(s suite, t *testing.T) {
	st, kind := s.open(t), "suite.delete"
	if err := st.Delete(t.Context(), kind, "k", 0); err != nil {
		t.Fatalf("with revision 0 where nothing is: %v", err)
	}
	mustBe(t, st.Delete(t.Context(), kind, "k", 3), store.ErrFenced)
	first := save(t, st, kind, "k", "one", 0)
	second := save(t, st, kind, "k", "two", first)
	for _, revision := range []uint64{0, first, second + 1} {
		mustBe(t, st.Delete(t.Context(), kind, "k", revision), store.ErrFenced)
	}
	want(t, st, kind, "k", "two", second)
	if err := st.Delete(t.Context(), kind, "k", second); err != nil {
		t.Fatal(err)
	}
	want(t, st, kind, "k", "", 0)
	mustBe(t, st.Delete(t.Context(), kind, "k", second), store.ErrFenced)
	_, err := st.Save(t.Context(), kind, "k", []byte("x"), second)
	mustBe(t, err, store.ErrFenced)
}

func neverAgain(s suite, t *testing.T) {
	st, kind := s.open(t), "suite.again"
	var used []uint64
	last := uint64(0)
	for round := range 20 {
		revision := save(t, st, kind, "k", fmt.Sprint(round), 0)
		if revision <= last {
			t.Fatalf("after %d came %d", last, revision)
		}
		used = append(used, revision)
		last = save(t, st, kind, "k", "more", revision)
		used = append(used, last)
		if err := st.Delete(t.Context(), kind, "k", last); err != nil {
			t.Fatal(err)
		}
	}
	last = save(t, st, kind, "k", "last", 0)
	for _, revision := range used {
		_, err := st.Save(t.Context(), kind, "k", []byte("asleep"), revision)
		mustBe(t, err, store.ErrFenced)
	}
	want(t, st, kind, "k", "last", last)
}

func oneWins(s suite, t *testing.T) {
	const rounds, writers = 1000, 4
	clients := []store.Store{s.open(t), s.open(t)}
	kind := "suite.race"
	revision := uint64(0)
	for round := range rounds {
		var won [writers]uint64
		var errs [writers]error
		var group sync.WaitGroup
		begin := make(chan struct{})
		for w := range writers {
			group.Go(func() {
				<-begin
				won[w], errs[w] = clients[w%2].Save(t.Context(), kind, "k", fmt.Appendf(nil, "%d by %d", round, w), revision)
			})
		}
		close(begin)
		group.Wait()
		winner := -1
		for w, err := range errs {
			switch {
			case err == nil && winner >= 0:
				t.Fatalf("round %d: %d and %d have won", round, winner, w)
			case err == nil:
				winner = w
			case !errors.Is(err, store.ErrFenced) || errors.Is(err, store.ErrOutcomeUnknown):
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if winner < 0 {
			t.Fatalf("round %d: nobody has won: %v", round, errs)
		}
		revision = won[winner]
		want(t, clients[(winner+1)%2], kind, "k", fmt.Sprintf("%d by %d", round, winner), revision)
		if round%10 == 9 { // the next round is about which one is the first
			if err := clients[0].Delete(t.Context(), kind, "k", revision); err != nil {
				t.Fatal(err)
			}
			revision = 0
		}
	}
}

func twoClients(s suite, t *testing.T) {
	a, b := s.open(t), s.open(t)
	kind := "suite.two"
	first := save(t, a, kind, "k", "a", 0)
	want(t, b, kind, "k", "a", first)
	second := save(t, b, kind, "k", "b", first)
	_, err := a.Save(t.Context(), kind, "k", []byte("late"), first)
	mustBe(t, err, store.ErrFenced)
	want(t, a, kind, "k", "b", second)
	if err := b.Delete(t.Context(), kind, "k", second); err != nil {
		t.Fatal(err)
	}
	want(t, a, kind, "k", "", 0)
}

// Hostile is keys that something on the way could take for something else.
var Hostile = []string{
	" ", "  ", "=", "==", "=20", "%20", ".", "..", "a.b", "a..b", ".a", "a.", "a", "A", "*", ">", "a.*", "a.>", "a/b", "a\\b",
	"a:b", "{a}", "a}", "\n", "\r\n", "a\nb", "\t", "\x00", "a\x00", "\x7f", "\xff\xfe", "é", "e\u0301", "日本語", "🐟",
	"$KV", "$JS.API", "-", "_", "--help", "'", "\"", "`", "a b", "a=20b",
	strings.Repeat("a", grainstore.MaxKey), strings.Repeat("*", grainstore.MaxKey), strings.Repeat("\xff", grainstore.MaxKey), strings.Repeat("魚", grainstore.MaxKey/3),
}

func hostile(s suite, t *testing.T) {
	a, b := s.open(t), s.open(t)
	revisions := make(map[string]uint64)
	state := func(kind, key string) string { return kind + "|" + key }
	kinds := []string{"suite.keys", "suite.keys.a", "suite.keys-a", "suite.-keys", strings.Repeat("k", grainstore.MaxKind)}
	for _, kind := range kinds {
		for _, key := range Hostile {
			revisions[state(kind, key)] = save(t, a, kind, key, state(kind, key), 0)
		}
	}
	for _, kind := range kinds {
		for _, key := range Hostile {
			want(t, b, kind, key, state(kind, key), revisions[state(kind, key)])
			if err := b.Delete(t.Context(), kind, key, revisions[state(kind, key)]); err != nil {
				t.Fatalf("%.40q: %v", key, err)
			}
		}
	}
}

func limits(s suite, t *testing.T) {
	st := s.open(t)
	for _, bad := range []struct{ kind, key string }{
		{"", "k"}, {"Upper", "k"}, {"a b", "k"}, {"a_b", "k"}, {"a*", "k"}, {".a", "k"}, {"a.", "k"}, {"a..b", "k"}, {".", "k"}, {"é", "k"}, {"suite", ""},
		{strings.Repeat("k", grainstore.MaxKind+1), "k"}, {"suite", strings.Repeat("k", grainstore.MaxKey+1)},
	} {
		_, err := st.Load(t.Context(), bad.kind, bad.key)
		mustBe(t, err, grainstore.ErrBadGrainName)
		_, err = st.Save(t.Context(), bad.kind, bad.key, nil, 0)
		mustBe(t, err, grainstore.ErrBadGrainName)
		mustBe(t, st.Delete(t.Context(), bad.kind, bad.key, 1), grainstore.ErrBadGrainName)
	}
	_, err := st.Save(t.Context(), "suite.limits", "k", make([]byte, 16<<20+1), 0)
	mustBe(t, err, grainstore.ErrStateTooLarge)
	config := quiet()
	config.MaxState = 10
	small := open(t, s.Address, config)
	_, err = small.Save(t.Context(), "suite.limits", "k", make([]byte, 11), 0)
	mustBe(t, err, grainstore.ErrStateTooLarge)
	save(t, small, "suite.limits", "k", "0123456789", 0)
}

func own(s suite, t *testing.T) {
	st := s.open(t)
	state := []byte("mine")
	revision, err := st.Save(t.Context(), "suite.own", "k", state, 0)
	if err != nil {
		t.Fatal(err)
	}
	copy(state, "yours")
	entry := load(t, st, "suite.own", "k")
	if !bytes.Equal(entry.State, []byte("mine")) {
		t.Fatalf("what was saved changed to %q", entry.State)
	}
	copy(entry.State, "your")
	want(t, st, "suite.own", "k", "mine", revision)
}

func ended(s suite, t *testing.T) {
	st := s.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := st.Load(ctx, "suite.ended", "k")
	mustBe(t, err, context.Canceled)
	_, err = st.Save(ctx, "suite.ended", "k", []byte("x"), 0)
	mustBe(t, err, context.Canceled)
	if errors.Is(err, store.ErrOutcomeUnknown) {
		t.Fatalf("it is known that nothing was done: %v", err)
	}
	mustBe(t, st.Delete(ctx, "suite.ended", "k", 1), context.Canceled)
	want(t, st, "suite.ended", "k", "", 0)
}

func closed(s suite, t *testing.T) {
	st := s.open(t)
	for range 2 {
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := st.Load(t.Context(), "suite.closed", "k")
	mustBe(t, err, grainstore.ErrStoreClosed)
	_, err = st.Save(t.Context(), "suite.closed", "k", nil, 0)
	mustBe(t, err, grainstore.ErrStoreClosed)
	mustBe(t, st.Delete(t.Context(), "suite.closed", "k", 1), grainstore.ErrStoreClosed)
}
