package conformance

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/description"
)

var eventBehaviours = []behaviour{
	{"an emitted event is handled on another node before Emit returns", emitReaches},
	{"an emitted event goes to each group once in the whole cluster, in turn", emitOncePerGroup},
	{"an emitted event goes to a group's member on the emitter's node if there is one", emitPrefersLocal},
	{"a broadcast event goes to every node that takes it", broadcastAll},
	{"a local broadcast stays on its node", broadcastStays},
	{"an event for chosen groups goes to these, and its handlers know the groups, the kind and the emitter's node", eventGroups},
	{"patterns take events of other nodes", eventPatterns},
	{"of several patterns of a group on one node the most specific handles the event", mostSpecific},
	{"an event's payload of another shape is matched by its names", eventShapes},
	{"handlers of any and of json.RawMessage get the payload as a document", eventDocuments},
	{"a payload that a handler cannot read is an error of its emitter, and the other handlers get it", eventUnreadable},
	{"a handler's error or panic does not reach the emitter", eventErrors},
	{"queued handlers let the emitter go on", eventQueued},
	{"events of one emitter are handled in their order", eventOrder},
	{"metadata, request id and the caller reach the handler of an event", eventContext},
	{"an event that nobody takes is no error", eventForNobody},
	{"$node.emit emits in the whole cluster", eventByName},
	{"a service that is added or removed later gets events or none", eventsFollow},
	{"an emitter does not notice that the last of a group comes and goes", eventsWhileOneLeaves},
	{"an event of 5 MB arrives whole", eventLarge},
}

// received is a delivery of an event.
type received struct {
	node  string
	event string
	text  string
}

// listens makes a service whose handlers send what they receive.
func listens(name string, to chan<- received, patterns ...string) *sabir.Service {
	s := sabir.NewService(name)
	for _, p := range patterns {
		sabir.On(s, p, func(ctx context.Context, in greeting) error {
			to <- received{sabir.NodeFromContext(ctx).ID(), sabir.InfoFromContext(ctx).Event, in.Name}
			return nil
		})
	}
	return s
}

// count counts the received events in a channel by node.
func count(from <-chan received) map[string]int {
	byNode := make(map[string]int)
	for range len(from) {
		byNode[(<-from).node]++
	}
	return byNode
}

func emitReaches(t *testing.T, s *suite) {
	w := s.threeNodes
	service, got := name(), make(chan received, 1)
	w.serve(t, w.bob, listens(service, got, service+".happened"))
	must(t, sabir.Emit(brief(t), w.ann, service+".happened", greeting{"Ada"}))
	if len(got) != 1 {
		t.Fatal("Emit returned before the handler had run")
	}
	if h := <-got; h != (received{"bob", service + ".happened", "Ada"}) {
		t.Errorf("received %+v", h)
	}
}

func emitOncePerGroup(t *testing.T, s *suite) {
	w := s.threeNodes
	one, two, event := name(), name(), name()+".happened"
	first, second := make(chan received, 100), make(chan received, 100)
	w.serve(t, w.bob, listens(one, first, event))
	w.serve(t, w.cid, listens(one, first, event))
	w.serve(t, w.bob, listens(two, second, event))
	const events = 80
	for range events {
		must(t, sabir.Emit(brief(t), w.ann, event, greeting{"Ada"}))
	}
	// The turn begins anew, anywhere, whenever a service comes or goes, as those of other behaviours do meanwhile: at worst each
	// event goes where chance will have it, and of so many a fifth is five standard deviations less than half.
	if got := count(first); got["bob"]+got["cid"] != events || got["bob"] < events/5 || got["cid"] < events/5 {
		t.Errorf("the group with two members got %v of %d", got, events)
	}
	if got := count(second); got["bob"] != events {
		t.Errorf("the group with one member got %v of %d", got, events)
	}
}

func emitPrefersLocal(t *testing.T, s *suite) {
	w := s.threeNodes
	service, event := name(), name()+".happened"
	got := make(chan received, 100)
	for _, on := range w.nodes() {
		w.serve(t, on, listens(service, got, event))
	}
	for range 10 {
		must(t, sabir.Emit(brief(t), w.cid, event, greeting{"Ada"}))
	}
	if got := count(got); !maps.Equal(got, map[string]int{"cid": 10}) {
		t.Errorf("received on %v", got)
	}
}

func broadcastAll(t *testing.T, s *suite) {
	w := s.threeNodes
	one, two, event := name(), name(), name()+".happened"
	got := make(chan received, 100)
	for _, on := range w.nodes() {
		w.serve(t, on, listens(one, got, event))
	}
	w.serve(t, w.bob, listens(two, got, event))
	must(t, sabir.Broadcast(brief(t), w.ann, event, greeting{"Ada"}))
	if got := count(got); !maps.Equal(got, map[string]int{"ann": 1, "bob": 2, "cid": 1}) {
		t.Errorf("received on %v", got)
	}
}

func eventGroups(t *testing.T, s *suite) {
	w := s.threeNodes
	mail, stock, event := name(), name(), name()+".happened"
	got := make(chan sabir.CallInfo, 100)
	for _, group := range []string{mail, stock} {
		service := sabir.NewService(group)
		sabir.On(service, event, func(ctx context.Context, _ greeting) error { got <- sabir.InfoFromContext(ctx); return nil })
		w.serve(t, w.bob, service)
	}
	must(t, sabir.Emit(brief(t), w.ann, event, greeting{"Ada"}, sabir.Groups(mail)))
	must(t, sabir.Broadcast(brief(t), w.ann, event, greeting{"Ada"}))
	if len(got) != 3 {
		t.Fatalf("%d handlers ran, want that of the chosen group and both", len(got))
	}
	if first := <-got; first.Service != mail || !slices.Equal(first.Groups, []string{mail}) || first.Broadcast || first.From != "ann" {
		t.Errorf("of the event for a group its handler knows %+v", first)
	}
	if second := <-got; second.Groups != nil || !second.Broadcast || second.From != "ann" {
		t.Errorf("of the broadcast a handler knows %+v", second)
	}
}

func broadcastStays(t *testing.T, s *suite) {
	w := s.threeNodes
	service, event := name(), name()+".happened"
	got := make(chan received, 100)
	for _, on := range w.nodes() {
		w.serve(t, on, listens(service, got, event))
	}
	must(t, sabir.BroadcastLocal(brief(t), w.ann, event, greeting{"Ada"}))
	must(t, sabir.Broadcast(brief(t), w.ann, event, greeting{"Ada"})) // arrives after whatever the first might have sent
	if got := count(got); !maps.Equal(got, map[string]int{"ann": 2, "bob": 1, "cid": 1}) {
		t.Errorf("received on %v", got)
	}
}

func eventPatterns(t *testing.T, s *suite) {
	w := s.threeNodes
	root := name()
	one, many, exact := make(chan received, 10), make(chan received, 10), make(chan received, 10)
	w.serve(t, w.bob, listens(name(), one, root+".*"))
	w.serve(t, w.bob, listens(name(), many, root+".**"))
	w.serve(t, w.cid, listens(name(), exact, root+".a.b"))
	for _, event := range []string{root + ".a", root + ".a.b", root} {
		must(t, sabir.Emit(brief(t), w.ann, event, greeting{"Ada"}))
	}
	for pattern, test := range map[string]struct {
		got  chan received
		want []string
	}{"*": {one, []string{root + ".a"}}, "**": {many, []string{root + ".a", root + ".a.b"}}, "exact": {exact, []string{root + ".a.b"}}} {
		var events []string
		for range len(test.got) {
			events = append(events, (<-test.got).event)
		}
		if !slices.Equal(events, test.want) {
			t.Errorf("%s received %v, want %v", pattern, events, test.want)
		}
	}
}

func mostSpecific(t *testing.T, s *suite) {
	w := s.threeNodes
	root := name()
	got := make(chan string, 10)
	service := sabir.NewService(name())
	for _, pattern := range []string{"**", "a.*", "a.b"} {
		sabir.On(service, root+"."+pattern, func(context.Context, greeting) error {
			got <- pattern
			return nil
		})
	}
	w.serve(t, w.bob, service)
	for _, event := range []string{"a.b", "a.c", "d"} {
		must(t, sabir.Emit(brief(t), w.ann, root+"."+event, greeting{"Ada"}))
	}
	if first, second, third := <-got, <-got, <-got; first != "a.b" || second != "a.*" || third != "**" || len(got) > 0 {
		t.Errorf("handled by %s, %s, %s and %d more", first, second, third, len(got))
	}
}

func eventErrors(t *testing.T, s *suite) {
	w := s.threeNodes
	event, got := name()+".happened", make(chan received, 3)
	fails, panics := sabir.NewService(name()), sabir.NewService(name())
	sabir.On(fails, event, func(context.Context, greeting) error { return errors.New("no") })
	sabir.On(panics, event, func(context.Context, greeting) error { panic("no") })
	w.serve(t, w.bob, fails)
	w.serve(t, w.bob, panics)
	w.serve(t, w.cid, listens(name(), got, event))
	for range 3 {
		must(t, sabir.Emit(brief(t), w.ann, event, greeting{"Ada"}))
	}
	if len(got) != 3 {
		t.Errorf("the other handler got %d of 3", len(got))
	}
}

func eventQueued(t *testing.T, s *suite) {
	w := s.threeNodes
	event, free, got := name()+".happened", make(chan struct{}), make(chan int, 10)
	service := sabir.NewService(name())
	sabir.On(service, event, func(_ context.Context, in int) error {
		<-free
		got <- in
		return nil
	}, sabir.Delivery{Buffer: 10})
	w.serve(t, w.bob, service)
	for i := range 10 {
		must(t, sabir.Emit(brief(t), w.ann, event, i)) // returns although none was handled yet
	}
	close(free)
	for i := range 10 {
		if in := get(t, "an event of the queue", got); in != i {
			t.Errorf("event %d was handled as number %d", in, i)
		}
	}
}

func eventOrder(t *testing.T, s *suite) {
	w := s.threeNodes
	event := name() + ".happened"
	var mu sync.Mutex
	got := make(map[string][]int)
	for _, on := range []*sabir.Node{w.bob, w.cid} {
		service := sabir.NewService(name())
		sabir.On(service, event, func(_ context.Context, in int) error {
			mu.Lock()
			defer mu.Unlock()
			got[on.ID()] = append(got[on.ID()], in)
			return nil
		})
		w.serve(t, on, service)
	}
	const events = 50
	var want []int
	for i := range events {
		want = append(want, i)
		must(t, sabir.Broadcast(context.Background(), w.ann, event, i))
	}
	mu.Lock() // the race detector does not see that an answer over a socket comes after the handler
	defer mu.Unlock()
	for _, node := range []string{"bob", "cid"} {
		if !slices.Equal(got[node], want) {
			t.Errorf("%s got %v", node, got[node])
		}
	}
}

func eventContext(t *testing.T, s *suite) {
	w := s.threeNodes
	event, got := name()+".happened", make(chan seen, 1)
	listener := sabir.NewService(name())
	sabir.On(listener, event, func(ctx context.Context, _ int) error {
		got <- seen{sabir.InfoFromContext(ctx), sabir.InfoFromContext(ctx).Metadata}
		return nil
	})
	w.serve(t, w.bob, listener)
	emitter := sabir.NewService(name())
	sabir.Handle(emitter, "it", func(ctx context.Context, in int) (int, error) { return in, sabir.Emit(ctx, emitter, event, in) })
	w.serve(t, w.cid, emitter)
	ctx := sabir.WithRequestID(sabir.WithMetadata(brief(t), "tenant", "a"), "r-1")
	_, err := sabir.Call[int](ctx, w.ann, emitter.Name()+".it", 1)
	must(t, err)
	in := get(t, "the event", got)
	if i := in.Info; i.Event != event || i.Action != "" || i.CalledBy != emitter.Name()+".it" || i.Depth != 2 || i.RequestID != "r-1" || i.Node != "bob" ||
		i.Service != listener.Name() || in.Metadata["tenant"] != "a" {
		t.Errorf("got %+v", in)
	}
}

func eventForNobody(t *testing.T, s *suite) {
	must(t, sabir.Emit(brief(t), s.threeNodes.ann, name()+".happened", 1))
	must(t, sabir.Broadcast(brief(t), s.threeNodes.ann, name()+".happened", 1))
}

func eventByName(t *testing.T, s *suite) {
	w := s.threeNodes
	service, event, got := name(), name()+".happened", make(chan received, 10)
	for _, on := range []*sabir.Node{w.bob, w.cid} {
		w.serve(t, on, listens(service, got, event))
	}
	emit := func(broadcast bool) {
		request := description.Emit{Event: event, Payload: stdjson.RawMessage(`{"name":"Ada"}`), Broadcast: broadcast}
		_, err := sabir.Call[sabir.Empty](brief(t), w.bob, "$node.emit", request, sabir.ToNode("ann"))
		must(t, err)
	}
	emit(false)
	if total := len(got); total != 1 || (<-got).text != "Ada" {
		t.Errorf("emitted, received %d times", total)
	}
	emit(true)
	if got := count(got); !maps.Equal(got, map[string]int{"bob": 1, "cid": 1}) {
		t.Errorf("broadcast, received on %v", got)
	}
}

func eventsWhileOneLeaves(t *testing.T, s *suite) {
	w := s.threeNodes
	event := name() + ".happened"
	ctx, stop := context.WithCancel(t.Context())
	var emitted sync.WaitGroup
	emitted.Go(func() {
		for ctx.Err() == nil {
			if err := sabir.Emit(brief(t), w.ann, event, greeting{"Ada"}); err != nil {
				t.Errorf("while the last of the group left: %v", err)
				return
			}
		}
	})
	for range 20 {
		service := sabir.NewService(name())
		sabir.On(service, event, func(context.Context, greeting) error { return nil })
		must(t, w.bob.Add(brief(t), service))
		eventually(t, "ann knows of the service", func() bool { return offers(w.ann, service.Name(), "bob") })
		must(t, w.bob.Remove(brief(t), service))
	}
	stop()
	emitted.Wait()
}

func eventsFollow(t *testing.T, s *suite) {
	w := s.threeNodes
	event, got := name()+".happened", make(chan received, 10)
	notify := func() { t.Helper(); must(t, sabir.Emit(brief(t), w.ann, event, greeting{"Ada"})) }
	notify()
	service := listens(name(), got, event)
	must(t, w.bob.Add(brief(t), service))
	eventually(t, "ann knows of the service", func() bool { return offers(w.ann, service.Name(), "bob") })
	notify()
	must(t, w.bob.Remove(brief(t), service))
	eventually(t, "ann knows that it has gone", func() bool { return !offers(w.ann, service.Name(), "bob") })
	notify()
	if len(got) != 1 {
		t.Errorf("received %d times, want once", len(got))
	}
}
