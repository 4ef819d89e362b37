package sabir_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

// heard records what handlers know of the events that they get, by their groups.
type heard struct {
	mu   sync.Mutex
	came map[string][]sabir.CallInfo
}

// listener is a service in the group of its name.
func (h *heard) listener(group string, options ...sabir.EventOption) *sabir.Service {
	s := sabir.NewService(group)
	sabir.On(s, "account.*", func(ctx context.Context, _ deposit) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.came == nil {
			h.came = make(map[string][]sabir.CallInfo)
		}
		h.came[group] = append(h.came[group], sabir.InfoFromContext(ctx))
		return nil
	}, options...)
	return s
}

// groups are those that got events, each as often as it got one.
func (h *heard) groups() (list []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for group, infos := range h.came {
		for range infos {
			list = append(list, group)
		}
	}
	slices.Sort(list)
	return list
}

// places runs a test with an emitter whose listeners are on its own node, and with one whose listeners are on another node each.
func places(t *testing.T, listeners func(*heard) []*sabir.Service, test func(t *testing.T, emitter *sabir.Node, log *bytes.Buffer, h *heard)) {
	t.Run("local", func(t *testing.T) {
		h, log := &heard{}, &bytes.Buffer{}
		options := []sabir.NodeOption{sabir.NodeID("n0"), sabir.Logger(slog.New(slog.NewTextHandler(log, nil)))}
		for _, s := range listeners(h) {
			options = append(options, sabir.Serve(s))
		}
		test(t, start(t, options...), log, h)
	})
	t.Run("remote", func(t *testing.T) {
		bubbletest.Run(t, func(t *testing.T) {
			h, log, address := &heard{}, &bytes.Buffer{}, "mem://"+strings.ReplaceAll(t.Name(), "/", "-")
			nodes := [][]sabir.NodeOption{{sabir.Join(address)}}
			for _, s := range listeners(h) {
				nodes = append(nodes, []sabir.NodeOption{sabir.Join(address), sabir.Serve(s)})
			}
			test(t, joined(t, log, nodes...)[0], log, h)
		})
	})
}

func mailStockBilling(h *heard) []*sabir.Service {
	return []*sabir.Service{h.listener("mail"), h.listener("stock"), h.listener("billing")}
}

func TestAnEventGoesToTheGroupsThatItsEmitterChose(t *testing.T) {
	places(t, mailStockBilling, func(t *testing.T, emitter *sabir.Node, _ *bytes.Buffer, h *heard) {
		if err := sabir.Emit(t.Context(), emitter, "account.paid", deposit{1}, sabir.Groups("mail", "stock")); err != nil {
			t.Fatal(err)
		}
		if err := sabir.NewEvent[deposit]("account.paid").Emit(t.Context(), emitter, deposit{1}, sabir.Groups("mail")); err != nil {
			t.Fatal(err)
		}
		if got := h.groups(); !slices.Equal(got, []string{"mail", "mail", "stock"}) {
			t.Errorf("the event went to %v", got)
		}
	})
}

func TestAHandlerKnowsTheGroupsOfAnEventAndItsEmitter(t *testing.T) {
	places(t, mailStockBilling, func(t *testing.T, emitter *sabir.Node, _ *bytes.Buffer, h *heard) {
		for _, options := range [][]sabir.EmitOption{{sabir.Groups("mail", "stock")}, nil} {
			if err := sabir.Emit(t.Context(), emitter, "account.paid", deposit{1}, options...); err != nil {
				t.Fatal(err)
			}
		}
		got := h.came["mail"]
		if len(got) != 2 || got[0].From != "n0" || got[0].Broadcast || !slices.Equal(got[0].Groups, []string{"mail", "stock"}) {
			t.Errorf("of the event for chosen groups the handler knows %+v", got)
		}
		if got[1].From != "n0" || got[1].Broadcast || got[1].Groups != nil {
			t.Errorf("of the event for all groups the handler knows %+v", got[1])
		}
	})
}

func TestAHandlerKnowsABroadcast(t *testing.T) {
	places(t, mailStockBilling, func(t *testing.T, emitter *sabir.Node, _ *bytes.Buffer, h *heard) {
		for range 2 {
			if err := sabir.Broadcast(t.Context(), emitter, "account.paid", deposit{1}); err != nil {
				t.Fatal(err)
			}
		}
		if len(h.groups()) != 6 {
			t.Errorf("the broadcasts went to %v", h.groups())
		}
		for group, infos := range h.came {
			for _, info := range infos {
				if !info.Broadcast || info.Groups != nil || info.From != "n0" || info.Event != "account.paid" || info.Service != group {
					t.Errorf("%s knows %+v", group, info)
				}
			}
		}
	})
}

func TestThoseWhoWatchGetTheEventsOfAllGroups(t *testing.T) {
	listeners := func(h *heard) []*sabir.Service {
		return []*sabir.Service{h.listener("mail"), h.listener("screen", sabir.Delivery{BestEffort: true})}
	}
	places(t, listeners, func(t *testing.T, emitter *sabir.Node, _ *bytes.Buffer, h *heard) {
		if err := sabir.Emit(t.Context(), emitter, "account.paid", deposit{1}, sabir.Groups("mail")); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(t.Name(), "remote") {
			time.Sleep(time.Second) // nobody waits for them
		}
		if got := h.groups(); !slices.Equal(got, []string{"mail", "screen"}) {
			t.Fatalf("the event went to %v", got)
		}
		if got := h.came["screen"][0]; !slices.Equal(got.Groups, []string{"mail"}) || got.From != "n0" {
			t.Errorf("who watches knows %+v", got)
		}
	})
}

func TestAChosenGroupWithoutAHandlerIsAWarningOnce(t *testing.T) {
	places(t, mailStockBilling, func(t *testing.T, emitter *sabir.Node, log *bytes.Buffer, h *heard) {
		for range 3 {
			if err := sabir.Emit(t.Context(), emitter, "account.paid", deposit{1}, sabir.Groups("mial")); err != nil {
				t.Fatal(err)
			}
		}
		if got := h.groups(); got != nil {
			t.Errorf("the event went to %v", got)
		}
		const want = `msg="no handler of the event is in a group that its emitter chose" node=n0 event=account.paid group=mial did_you_mean=[mail]`
		if got := log.String(); strings.Count(got, "group=mial") != 1 || !strings.Contains(got, want) {
			t.Errorf("the log is %s", got)
		}
	})
}

func TestAnEventThatNobodyHandlesWarnsOfNoGroup(t *testing.T) {
	var log bytes.Buffer
	node := start(t, sabir.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	if err := sabir.Emit(t.Context(), node, "account.paid", deposit{1}, sabir.Groups("mail")); err != nil || strings.Contains(log.String(), "group") {
		t.Errorf("error %v, log %s", err, log.String())
	}
}

func TestGroupsThatCannotBeAreAnError(t *testing.T) {
	h := &heard{}
	node := start(t, sabir.Serve(h.listener("mail")))
	for name, options := range map[string][]sabir.EmitOption{
		"none":     {sabir.Groups()},
		"empty":    {sabir.Groups("mail", "")},
		"twice":    {sabir.Groups("mail"), sabir.Groups("stock")},
		"too many": {sabir.Groups(slices.Repeat([]string{"mail"}, 257)...)},
	} {
		if err := sabir.Emit(t.Context(), node, "account.paid", deposit{1}, options...); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if got := h.groups(); got != nil {
		t.Errorf("events went to %v", got)
	}
}

func TestWhatAHandlerEmitsHasGroupsOfItsOwn(t *testing.T) {
	h := &heard{}
	outer := sabir.NewService("outer")
	sabir.On(outer, "outer.happened", func(ctx context.Context, _ deposit) error { return sabir.Emit(ctx, outer, "account.paid", deposit{1}) })
	node := start(t, sabir.Serve(outer, h.listener("mail")))
	if err := sabir.Emit(t.Context(), node, "outer.happened", deposit{1}, sabir.Groups("outer")); err != nil {
		t.Fatal(err)
	}
	if got := h.came["mail"]; len(got) != 1 || got[0].Groups != nil || got[0].CalledBy != "outer.happened" {
		t.Errorf("the inner handler knows %+v", got)
	}
}

func TestAQueuedHandlerKnowsWhatItHandles(t *testing.T) {
	h := &heard{}
	node := sabir.NewNode(sabir.NodeID("n0"), sabir.Serve(h.listener("mail", sabir.Delivery{Buffer: 10})))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := errors.Join(sabir.Emit(t.Context(), node, "account.paid", deposit{1}, sabir.Groups("mail")), sabir.Broadcast(t.Context(), node, "account.paid", deposit{1}))
	if err := errors.Join(err, node.Stop(t.Context())); err != nil { // which waits for the queue
		t.Fatal(err)
	}
	got := h.came["mail"]
	if len(got) != 2 || !slices.Equal(got[0].Groups, []string{"mail"}) || got[0].Broadcast || got[1].Groups != nil || !got[1].Broadcast {
		t.Errorf("the handler knows %+v", got)
	}
}

func TestAnEventFromOutsideSaysItsNodeAndGroups(t *testing.T) {
	h := &heard{}
	node := start(t, sabir.NodeID("n0"), sabir.Serve(h.listener("mail"), h.listener("stock")))
	for _, broadcast := range []bool{false, true} {
		in := gateway.Inbound{Context: t.Context(), From: "node-of-js", Groups: []string{"mail"}, Level: 2, CalledBy: "their.action"}
		if err := node.ReceiveEvent(in, "account.paid", []string{"mail"}, broadcast, json.Codec, []byte(`{"Amount":1}`)); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.groups(); !slices.Equal(got, []string{"mail", "mail"}) {
		t.Fatalf("the events went to %v", got)
	}
	for i, info := range h.came["mail"] {
		want := sabir.CallInfo{Event: "account.paid", Service: "mail", CalledBy: "their.action", Depth: 3, Node: "n0", From: "node-of-js", Broadcast: i == 1, Groups: []string{"mail"}}
		if !reflect.DeepEqual(info, want) {
			t.Errorf("the handler knows %+v", info)
		}
	}
}

func TestACallKnowsTheNodeThatMadeIt(t *testing.T) {
	s := sabir.NewService("who")
	sabir.Handle(s, "calls", func(ctx context.Context, _ sabir.Empty) (string, error) { return sabir.InfoFromContext(ctx).From, nil })
	sabir.Handle(s, "asks", func(ctx context.Context, _ sabir.Empty) (string, error) {
		return sabir.Call[string](ctx, s, "who.calls", sabir.Empty{})
	})
	bubbletest.Run(t, func(t *testing.T) {
		address := "mem://" + t.Name()
		nodes := joined(t, nil, []sabir.NodeOption{sabir.Join(address)}, []sabir.NodeOption{sabir.Join(address), sabir.Serve(s)})
		call := func(from *sabir.Node, action string) string {
			out, err := sabir.Call[string](t.Context(), from, action, sabir.Empty{})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		outside := func(action string, in gateway.Inbound) string {
			in.Context = t.Context()
			out, err := nodes[1].Action(action).ServeJSON(in, nil, []byte("{}"))
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		for _, c := range []struct{ name, got, want string }{
			{"over a link", call(nodes[0], "who.calls"), "n0"},
			{"on the node itself", call(nodes[1], "who.calls"), "n1"},
			{"by a handler that was called over a link", call(nodes[0], "who.asks"), "n1"},
			{"from outside, by nobody", outside("who.calls", gateway.Inbound{}), `""`},
			{"from outside, with a limit", outside("who.calls", gateway.Inbound{Limit: time.Minute}), `""`},
			{"from outside, by a node", outside("who.calls", gateway.Inbound{From: "js", Level: 3}), `"js"`},
			{"by a handler that was called from outside", outside("who.asks", gateway.Inbound{}), `"n1"`},
		} {
			if c.got != c.want {
				t.Errorf("a call %s is from %s, want %s", c.name, c.got, c.want)
			}
		}
	})
}

func ExampleGroups() {
	mail, stock := sabir.NewService("mail"), sabir.NewService("stock")
	for _, s := range []*sabir.Service{mail, stock} {
		sabir.On(s, "order.created", func(ctx context.Context, id int) error {
			info := sabir.InfoFromContext(ctx)
			fmt.Println(info.Service, id, info.Groups)
			return nil
		})
	}
	node := sabir.NewNode(sabir.Serve(mail, stock), sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := node.Start(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	defer node.Stop(context.Background())
	fmt.Println(sabir.Emit(context.Background(), node, "order.created", 7, sabir.Groups("mail")))
	// Output:
	// mail 7 [mail]
	// <nil>
}
