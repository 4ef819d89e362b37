package sabir

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/native"
)

// passing is a Remote that answers everything with nothing.
type passing struct{}

func (passing) Name() string                         { return "nowhere" }
func (passing) Send(context.Context, *Request) error { return nil }

func inUse() int64 {
	runtime.GC()
	runtime.GC() // what a cleanup of the first has let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestTablesThatNamesFill gives every table of a node that is filled by names of callers and peers many more than it holds, with
// SABIR_TEST_ALL a million: none passes its bound, and a name that is in use all the while is still found at the end.
// docs/cluster.md has the same list, with the tables of links, gateways and extensions.
func TestTablesThatNamesFill(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	type filling struct {
		add  func(i int) error // uses name i
		hot  func() bool       // uses one name that is used again and again, and reports whether it was known
		size func() int
		most int
	}
	for _, routingTable := range []struct {
		name string
		of   func(t *testing.T, n *Node) filling
	}{
		{"plans of events, as they are emitted here and as they come from other nodes", func(t *testing.T, n *Node) filling {
			events := n.events
			return filling{
				add:  func(i int) error { _, err := events.plan(fmt.Sprintf("user.%d.seen", i)); return err },
				hot:  func() bool { _, ok := events.plans.Get("user.created"); events.plan("user.created"); return ok },
				size: events.plans.Len, most: maxEventPlans,
			}
		}},
		{"actions of other nodes, called by name", func(t *testing.T, n *Node) filling {
			return filling{
				add: func(i int) error {
					_, err := n.remoteByName(fmt.Sprintf("users.get%d", i), &callOptions{node: "b"})
					return err
				},
				hot: func() bool {
					_, ok := n.remoteNames.Get("users.get")
					n.remoteByName("users.get", &callOptions{node: "b"})
					return ok
				},
				size: n.remoteNames.Len, most: maxRemoteNames,
			}
		}},
		{"handlers of other nodes that call", func(t *testing.T, n *Node) filling {
			return filling{
				add: func(i int) error { n.remoteParent(fmt.Sprintf("user.%d.seen", i), 1+i%50); return nil },
				hot: func() bool {
					_, ok := n.remoteParents.Get(remoteParent{"users.get", 1})
					n.remoteParent("users.get", 1)
					return ok
				},
				size: n.remoteParents.Len, most: maxRemoteParents,
			}
		}},
		{"bound names that nobody holds any more", func(t *testing.T, n *Node) filling {
			held := Bind[int, int](n, "users.get")
			return filling{
				add: func(i int) error { Bind[int, int](n, fmt.Sprintf("users.get%d", i)); return nil },
				hot: func() bool { return held != nil },
				size: func() int {
					size := 0
					for limit := time.Now().Add(time.Minute); time.Now().Before(limit); runtime.Gosched() { // until the cleanups have run
						runtime.GC()
						n.tableLock.Lock()
						size = len(n.bindings)
						n.tableLock.Unlock()
						if size <= 1 {
							break
						}
					}
					return size
				}, most: 1,
			}
		}},
		{"formats that no codec of the program has", func(t *testing.T, n *Node) filling {
			number, formats := reflect.TypeFor[int](), new(callFormats)
			natively := formats.named(native.Name, number, number)
			return filling{
				add: func(i int) error { formats.named(fmt.Sprint("format", i), number, number); return nil },
				hot: func() bool { return formats.named(native.Name, number, number) == natively },
				size: func() (size int) {
					formats.others.Range(func(any, any) bool { size++; return true })
					return size
				},
			}
		}},
		{"paths of calls to one action", func(t *testing.T, n *Node) filling {
			s := newOperation(n, "users", "users.get")
			return filling{
				add: func(i int) error {
					_, failed := s.nestedUnder(&callContext{Context: background, op: s, level: 1, shared: true})
					if failed != nil {
						return failed
					}
					return nil
				},
				hot: func() bool { return true },
				size: func() int {
					if known := s.nested.Load(); known != nil {
						return len(*known)
					}
					return 0
				}, most: maxNested,
			}
		}},
	} {
		t.Run(routingTable.name, func(t *testing.T) {
			count := 100_000
			if os.Getenv("SABIR_TEST_ALL") != "" {
				count = 1_000_000
			}
			n := NewNode(WithUpstream(passing{}))
			f := routingTable.of(t, n)
			f.hot()
			before, forgotten := inUse(), 0
			for i := range count {
				if err := f.add(i); err != nil {
					t.Fatal(err)
				}
				if i%100 == 0 && !f.hot() {
					forgotten++
				}
			}
			if size := f.size(); size > f.most {
				t.Errorf("it holds %d, at most %d are wanted", size, f.most)
			}
			if grown := inUse() - before; grown > 16<<20 {
				t.Errorf("%d bytes are held", grown)
			}
			if forgotten > 0 {
				t.Errorf("what is used was forgotten %d times", forgotten)
			}
			runtime.KeepAlive(n)
		})
	}
}

// Paths of links that are gone must not keep out those of links that stand.
func TestPathsThatComeLaterAreRememberedToo(t *testing.T) {
	n := NewNode()
	s := newOperation(n, "users", "users.get")
	for range 10 * maxNested {
		s.nestedUnder(&callContext{Context: background, op: s, level: 1, shared: true})
	}
	late := &callContext{Context: background, op: s, level: 1, shared: true}
	for i := 0; ; i++ {
		if c, _ := s.nestedUnder(late); c.shared {
			break
		}
		if i > 2*forgetNested {
			t.Fatal("the path is not remembered")
		}
	}
}

// TestManyEventsLeaveALinkAsItWas emits more names than a link, a plan table or a table of routes holds, to one group and to
// all, each way, and then calls, streams and emits what was never used on that link.
func TestManyEventsLeaveALinkAsItWas(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	begin := beginner(t, ctx)
	var got atomic.Int64
	s := NewService("svc")
	On(s, "user.**", func(context.Context, int) error { got.Add(1); return nil })
	Handle(s, "it", func(_ context.Context, in int) (int, error) { return in, nil })
	HandleStream(s, "flow", func(_ context.Context, stream *Stream[int, int]) error {
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		return stream.Send(in)
	})
	a := begin("a", Serve(s))
	caller := begin("caller")
	awaitLinks(ctx, []*Node{a, caller})
	if err := caller.WaitFor(ctx, "svc"); err != nil {
		t.Fatal(err)
	}
	awaitListeners(t, ctx, caller, "user.created", 1)
	links := meshOf(caller).Peer("a").Links()
	const names, emitters = 10_000, 20
	var all sync.WaitGroup
	for at := range emitters {
		all.Go(func() {
			for i := at; i < names; i += emitters {
				event, err := fmt.Sprintf("user.%d.seen", i), error(nil)
				if i%2 == 0 {
					err = Broadcast(ctx, caller, event, i)
				} else {
					err = Emit(ctx, caller, event, i)
				}
				if err != nil {
					t.Errorf("event %d: %v", i, err)
					return
				}
			}
		})
	}
	all.Wait()
	if got.Load() != names {
		t.Errorf("%d events of %d came", got.Load(), names)
	}
	if out, err := Call[int](ctx, caller, "svc.it", 7); err != nil || out != 7 {
		t.Errorf("a call got %d, %v", out, err)
	}
	if stream, err := OpenStream[int, int](ctx, caller, "svc.flow"); err != nil {
		t.Error(err)
	} else {
		stream.Send(8)
		if out, err := stream.Recv(); err != nil || out != 8 {
			t.Errorf("a stream got %d, %v", out, err)
		}
		stream.Close()
	}
	for _, l := range links {
		if err := l.Err(); err != nil {
			t.Errorf("a link ended: %v", err)
		}
	}
}
