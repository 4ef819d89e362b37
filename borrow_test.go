package sabir_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
)

type letter struct {
	To   string
	Text []byte
}

// lends starts a node whose action letters.open keeps what it got, and returns what calls it from another node, and what it has kept.
func lends(t *testing.T, options ...sabir.ActionOption) (open sabir.Func[letter, string], kept func() letter) {
	t.Helper()
	var mu sync.Mutex
	var last letter
	s := sabir.NewService("letters")
	sabir.Handle(s, "open", func(_ context.Context, in letter) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		last = in
		if in.To == "" {
			return "", errors.New("a letter without an address: " + string(in.Text))
		}
		return in.To, nil
	}, options...)
	address := "mem://" + strings.ReplaceAll(t.Name(), "/", "-")
	start(t, sabir.Serve(s), sabir.NodeID("desk"), sabir.Join(address, cluster.Config{Seeds: []string{address}}), sabir.Logger(quiet))
	caller := start(t, sabir.NodeID("caller"), sabir.Join(address, cluster.Config{Seeds: []string{address}}), sabir.Logger(quiet))
	if err := caller.WaitFor(t.Context(), "letters"); err != nil {
		t.Fatal(err)
	}
	return sabir.Bind[letter, string](caller, "letters.open"), func() letter {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

func TestABorrowedInputIsInTheMemoryOfItsFrame(t *testing.T) {
	for _, test := range []struct {
		name     string
		options  []sabir.ActionOption
		borrowed bool
	}{
		{"by default", []sabir.ActionOption{sabir.Inline()}, false},
		{"borrowed", []sabir.ActionOption{sabir.Inline(), sabir.Borrow()}, true},
		{"borrowed, behind a middleware, which may keep it", []sabir.ActionOption{sabir.Inline(), sabir.Borrow(), sabir.Use(passing(1)...)}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			open, kept := lends(t, test.options...)
			call := func(to, text string) letter {
				t.Helper()
				if _, err := open(context.Background(), letter{to, []byte(text)}); err != nil {
					t.Fatal(err)
				}
				return kept()
			}
			call("Eve", "before") // whose frame comes behind those that describe its type
			first := call("Ada", "first")
			changed := false
			for range 100 { // in the same memory, as a rule the first one
				call("Bob", strings.Repeat("other ", 50)) // so long that it is written over, though another frame came before it
				if changed = first.To != "Ada"; changed {
					break
				}
			}
			if changed != test.borrowed {
				t.Errorf("after other calls what the handler has kept is %q", first.To)
			}
		})
	}
}

func TestWhatABorrowingHandlerAnswersIsItsCallers(t *testing.T) {
	for name, options := range map[string][]sabir.ActionOption{
		"inline":     {sabir.Borrow(), sabir.Inline()},
		"on workers": {sabir.Borrow()},
	} {
		t.Run(name, func(t *testing.T) {
			open, _ := lends(t, options...)
			var calls sync.WaitGroup
			for i := range 16 {
				calls.Go(func() {
					for n := range 200 {
						to := fmt.Sprintf("%d-%d", i, n)
						if answer, err := open(context.Background(), letter{to, []byte(strings.Repeat(to, 20))}); err != nil || answer != to {
							t.Errorf("%s was answered %q, %v", to, answer, err)
						}
						_, err := open(context.Background(), letter{"", []byte(to)})
						if err == nil || !strings.HasSuffix(err.Error(), "a letter without an address: "+to) {
							t.Errorf("the error for %s is %v", to, err)
						}
					}
				})
			}
			calls.Wait()
		})
	}
}

func TestAStreamBorrowsNothing(t *testing.T) {
	s := sabir.NewService("letters")
	sabir.HandleStream(s, "read", func(context.Context, *sabir.Stream[letter, string]) error { return nil }, sabir.Borrow())
	err := sabir.NewNode(sabir.Serve(s)).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), `Borrow is for Handle: the action "read" is a stream`) {
		t.Errorf("the start says %v", err)
	}
}

func BenchmarkBorrowedCall(b *testing.B) {
	for name, options := range map[string][]sabir.ActionOption{"as ever": nil, "borrowed": {sabir.Borrow()}} {
		b.Run(name, func(b *testing.B) {
			s := sabir.NewService("orders")
			sabir.Handle(s, "count", func(_ context.Context, in []letter) (int, error) { return len(in), nil }, append(options, sabir.Inline())...)
			address := "mem://" + strings.ReplaceAll(b.Name(), "/", "-")
			start(b, sabir.Serve(s), sabir.NodeID("desk"), sabir.Join(address, cluster.Config{Seeds: []string{address}}), sabir.Logger(quiet))
			caller := start(b, sabir.NodeID("caller"), sabir.Join(address, cluster.Config{Seeds: []string{address}}), sabir.Logger(quiet))
			if err := caller.WaitFor(b.Context(), "orders"); err != nil {
				b.Fatal(err)
			}
			count := sabir.Bind[[]letter, int](caller, "orders.count")
			letters := make([]letter, 10)
			for i := range letters {
				letters[i] = letter{fmt.Sprint("Ada ", i), []byte(strings.Repeat("text ", 10))}
			}
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if n, err := count(ctx, letters); err != nil || n != 10 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
