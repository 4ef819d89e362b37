package moleculer_test

import (
	"context"
	"slices"
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
		to <- name + " " + info.Event + " " + text + " " + sabir.InfoFromContext(ctx).Metadata["user"]
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

// TestAHandlerKnowsWhatANodeOfMoleculerSent holds that a handler here learns what one of Moleculer does: eventType, eventGroups and nodeID.
func TestAHandlerKnowsWhatANodeOfMoleculerSent(t *testing.T) {
	versions(t, func(t *testing.T, a *place, js *peer) {
		got := make(chan sabir.CallInfo, 10)
		mail := sabir.NewService("mail")
		sabir.On(mail, "user.*", func(ctx context.Context, _ any) error { got <- sabir.InfoFromContext(ctx); return nil })
		a.node("go", []sabir.Servable{mail, orders()}, moleculer.Config{Expose: []string{"mail.*", "orders.*"}})
		js.must(nil, "wait", "mail", "v3.orders")
		emitted := func(args ...any) sabir.CallInfo {
			js.must(nil, args[0].(string), args[1:]...)
			select {
			case info := <-got:
				return info
			case <-time.After(waitLimit):
				t.Fatal("no event came")
				return sabir.CallInfo{}
			}
		}
		if info := emitted("emit", "user.created", "Ada", map[string]any{"groups": []string{"mail"}}); info.Broadcast || !slices.Equal(info.Groups, []string{"mail"}) || info.From != js.id {
			t.Errorf("of an event for a group the handler knows %+v", info)
		}
		if info := emitted("broadcast", "user.gone", "Bob"); !info.Broadcast || info.Groups != nil || info.From != js.id {
			t.Errorf("of a broadcast the handler knows %+v", info)
		}
	})
}

// TestEmittersChooseGroupsOfMoleculer holds that handlers there get an event by their groups, and learn of the kind, the group and the node.
func TestEmittersChooseGroupsOfMoleculer(t *testing.T) {
	versions(t, func(t *testing.T, a *place, js *peer) {
		n := a.node("go", nil, moleculer.Config{})
		if err := n.WaitFor(t.Context(), "listener"); err != nil {
			t.Fatal(err)
		}
		for i, groups := range [][]string{{"loud"}, {"nobody"}, {"listener"}} {
			if err := sabir.Emit(t.Context(), n, "news.loud", i, sabir.Groups(groups...)); err != nil {
				t.Fatal(err)
			}
		}
		if one := js.event(); !strings.Contains(one, `"params":0`) || !strings.Contains(one, `"groups":["loud"]`) || !strings.Contains(one, `"type":"emit"`) || !strings.Contains(one, `"sender":"go"`) {
			t.Errorf("the group loud got %s", one)
		}
		if two := js.event(); !strings.Contains(two, `"params":2`) || !strings.Contains(two, `"groups":["listener"]`) {
			t.Errorf("the group listener got %s", two)
		}
	})
}

// A service whose name begins with $ has no part in calls, and its handlers have one in events.
func TestTheListenerOfMoleculersREPLGetsEvents(t *testing.T) {
	versions(t, func(t *testing.T, a *place, js *peer) {
		n := a.node("go", nil, moleculer.Config{})
		if err := n.WaitFor(t.Context(), "listener"); err != nil {
			t.Fatal(err)
		}
		if err := sabir.Emit(t.Context(), n, "seen.there", 7); err != nil {
			t.Fatal(err)
		}
		if line := js.event(); !strings.Contains(line, `"listener of the REPL seen.there"`) || !strings.Contains(line, `"params":7`) {
			t.Errorf("it got %s", line)
		}
		if err := sabir.Broadcast(t.Context(), n, "seen.here", 8); err != nil {
			t.Fatal(err)
		}
		if line := js.event(); !strings.Contains(line, `seen.here`) || !strings.Contains(line, `"params":8`) {
			t.Errorf("it got %s", line)
		}
	})
}

func TestEventsBothWays(t *testing.T) {
	versions(t, func(t *testing.T, a *place, js *peer) {
		got := make(chan string, 100)
		n := a.node("go", []sabir.Servable{heard("mail", "user.*", got), heard("audit", "user.**", got), heard("hidden", "user.*", got), orders()},
			moleculer.Config{Expose: []string{"mail.*", "audit.*", "orders.*"}})
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
