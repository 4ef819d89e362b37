package moleculer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
)

// heard is a service that reports the events that its handlers get.
func heard(name, pattern string, to chan string, options ...sabir.EventOption) *sabir.Service {
	s := sabir.NewService(name)
	sabir.On(s, pattern, func(ctx context.Context, payload any) error {
		info := sabir.InfoFromContext(ctx)
		text, _ := payload.(string)
		to <- name + " " + info.Event + " " + text + " " + sabir.MetadataFromContext(ctx)["user"]
		return nil
	}, options...)
	return s
}

func next(t *testing.T, from chan string) string {
	t.Helper()
	select {
	case text := <-from:
		return text
	case <-time.After(waitLimit):
		t.Fatal("no event came")
		return ""
	}
}

func TestEventsBothWays(t *testing.T) {
	versions(t, func(t *testing.T, a *place, js *peer) {
		got := make(chan string, 100)
		n := a.node("go", []sabir.Servable{heard("mail", "user.*", got), heard("audit", "user.**", got), heard("hidden", "user.*", got), orders()},
			moleculer.Expose("mail.*", "audit.*", "orders.*"))
		js.must(nil, "wait", "mail", "audit", "v3.orders")
		if err := n.WaitFor(t.Context(), "listener"); err != nil {
			t.Fatal(err)
		}

		js.must(nil, "emit", "user.created", "Ada", map[string]any{"meta": map[string]any{"user": "root"}})
		if one, two := next(t, got), next(t, got); one+two != "mail user.created Ada rootaudit user.created Ada root" && two+one != "mail user.created Ada rootaudit user.created Ada root" {
			t.Errorf("handlers got %q and %q", one, two)
		}
		js.must(nil, "emit", "user.created", "Bob", map[string]any{"groups": []string{"audit"}})
		if one := next(t, got); one != "audit user.created Bob " {
			t.Errorf("a group got %q", one)
		}
		js.must(nil, "emit", "user.left.early", "Cem")
		if one := next(t, got); one != "audit user.left.early Cem " {
			t.Errorf("a pattern took %q", one)
		}
		js.must(nil, "broadcast", "user.gone", "Dan")
		if one, two := next(t, got), next(t, got); one == two || !strings.Contains(one+two, "user.gone Dan") {
			t.Errorf("a broadcast is %q and %q", one, two)
		}
		js.must(nil, "broadcast", "user.gone", "Eve", map[string]any{"groups": []string{"mail"}})
		if one := next(t, got); one != "mail user.gone Eve " {
			t.Errorf("a broadcast to one group is %q", one)
		}

		ctx := sabir.WithMetadata(t.Context(), "user", "Eve")
		if err := sabir.Emit(ctx, n, "news.loud", map[string]int{"n": 1}); err != nil {
			t.Fatal(err)
		}
		both := js.event() + js.event()
		if !strings.Contains(both, `"groups":["listener"]`) || !strings.Contains(both, `"loud news.loud"`) || !strings.Contains(both, `"user":"Eve"`) || !strings.Contains(both, `"type":"emit"`) {
			t.Errorf("events: %s", both)
		}
		if err := sabir.Broadcast(t.Context(), n, "news.local.small", 7); err != nil {
			t.Fatal(err)
		}
		if line := js.event(); !strings.Contains(line, `"params":7`) || !strings.Contains(line, `"type":"broadcast"`) {
			t.Errorf("a broadcast is %s", line)
		}
		if err := sabir.Broadcast(t.Context(), n, "news.loud", 8); err != nil {
			t.Fatal(err)
		}
		if both := js.event() + js.event(); !strings.Contains(both, `"loud news.loud"`) || !strings.Contains(both, `"groups":["listener","loud"]`) {
			t.Errorf("a broadcast to two groups of a node: %s", both)
		}
		select {
		case text := <-got:
			t.Errorf("a handler got %q too", text)
		default:
		}
	})
}
