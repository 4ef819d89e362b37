package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/grainstore"
	"github.com/sabir-go/sabir/internal/storetest"
)

func TestStore(t *testing.T) {
	openStore(t, "mem://suite")
	storetest.Run(t, storetest.Setup{Address: "mem://suite"})
}

func BenchmarkStore(b *testing.B) { storetest.Benchmark(b, "mem://bench") }

func openStore(t *testing.T, address string) store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestAPlaceLastsAsLongAsAStoreOfItIsOpen(t *testing.T) {
	first, second := openStore(t, "mem://place"), openStore(t, "mem://place")
	if _, err := first.Save(t.Context(), "k", "k", []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	first.Close()
	if entry, err := second.Load(t.Context(), "k", "k"); err != nil || entry.Revision == 0 {
		t.Fatalf("one is still open: %+v, %v", entry, err)
	}
	second.Close()
	if entry, err := openStore(t, "mem://place").Load(t.Context(), "k", "k"); err != nil || entry.Revision != 0 {
		t.Fatalf("none was open: %+v, %v", entry, err)
	}
}

func TestStoresWithoutANameShareNothing(t *testing.T) {
	for _, other := range []store.Store{openStore(t, "mem://"), openStore(t, "mem://"), store.Memory(), store.Memory(store.Config{MaxState: 1})} {
		if _, err := other.Save(t.Context(), "k", "k", []byte("x"), 0); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMaxStateIsOfNewToo(t *testing.T) {
	s := store.Memory(store.Config{MaxState: 1})
	if _, err := s.Save(t.Context(), "k", "k", []byte("xy"), 0); !errors.Is(err, grainstore.ErrStateTooLarge) {
		t.Fatalf("got %v", err)
	}
}

func TestAnAddressWithMoreThanANameIsRefused(t *testing.T) {
	for _, address := range []string{"mem://a/b", "mem://a?b=c", "mem://u@a", "mem://a#b", "mem:a"} {
		if _, err := store.Open(t.Context(), address); err == nil {
			t.Errorf("%s was taken", address)
		}
	}
}

func Example() {
	ctx := context.Background()
	s := store.Memory()
	defer s.Close()

	entry, _ := s.Load(ctx, "account", "ada") // nothing yet
	first, _ := s.Save(ctx, "account", "ada", []byte("12 coins"), entry.Revision)
	_, err := s.Save(ctx, "account", "ada", []byte("by an activation that knows nothing of it"), entry.Revision)
	fmt.Println(errors.Is(err, store.ErrFenced))

	entry, _ = s.Load(ctx, "account", "ada")
	fmt.Println(string(entry.State), entry.Revision == first)
	// Output:
	// true
	// 12 coins true
}
