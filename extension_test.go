package sabir_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/internal/wire"
	_ "github.com/sabir-go/sabir/transport/mem"
)

const topicOfTest = 200

// recorder is an extension that reports to the test what it receives. The functions may be nil.
type recorder struct {
	topic     uint8
	received  chan note
	start     func(*sabir.Node) error
	stop      func() error
	onLinked  func(*wire.Link)
	onPosted  func(*wire.Link, string)
	onClosing func()
}

// note is one call of a recorder.
type note struct {
	what string // "linked", "posted", "unlinked", "start" or "stop"
	link *wire.Link
	data string
	err  error
}

func newRecorder() *recorder { return &recorder{topic: topicOfTest, received: make(chan note, 10_000)} }

func (r *recorder) Name() string { return "recorder" }

func (r *recorder) Topic() uint8 { return r.topic }

// on lets the recorder have another topic.
func (r *recorder) on(topic uint8) *recorder {
	r.topic = topic
	return r
}

func (r *recorder) Start(_ context.Context, n *sabir.Node) error {
	r.received <- note{what: "start"}
	if r.start == nil {
		return nil
	}
	return r.start(n)
}

func (r *recorder) Stop(context.Context) error {
	r.received <- note{what: "stop"}
	if r.stop == nil {
		return nil
	}
	return r.stop()
}

func (r *recorder) Linked(l *wire.Link) {
	r.received <- note{what: "linked", link: l}
	if r.onLinked != nil {
		r.onLinked(l)
	}
}

func (r *recorder) Posted(l *wire.Link, data []byte) {
	r.received <- note{what: "posted", link: l, data: string(data)}
	if r.onPosted != nil {
		r.onPosted(l, string(data))
	}
}

func (r *recorder) Unlinked(l *wire.Link, err error) {
	r.received <- note{what: "unlinked", link: l, err: err}
	if r.onClosing != nil {
		r.onClosing()
	}
}

// next is the next call of that kind, with those before it left out.
func (r *recorder) next(t *testing.T, what string) note {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case h := <-r.received:
			if h.what == what {
				return h
			}
		case <-limit:
			t.Fatalf("nothing was %s", what)
		}
	}
}

// rest returns the notes that were received and not taken yet.
func (r *recorder) rest() (all []note) {
	for {
		select {
		case h := <-r.received:
			all = append(all, h)
		default:
			return all
		}
	}
}

func startExtended(t *testing.T, id string, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	return startLogged(t, id, quiet, options...)
}

func startLogged(t *testing.T, id string, log *slog.Logger, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	n := sabir.NewNode(append([]sabir.NodeOption{sabir.NodeID(id), sabir.Logger(log)}, options...)...)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopIfRunning(t, n) })
	return n
}

func stopIfRunning(t *testing.T, n *sabir.Node) {
	t.Helper()
	if n.State() != "running" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// startPair starts two nodes, a and b, with the extensions given.
func startPair(t *testing.T, network string, a, b sabir.Extension, options ...cluster.Option) (*sabir.Node, *sabir.Node) {
	t.Helper()
	address := "mem://" + strings.ReplaceAll(t.Name(), "/", "-")
	if network == "tcp" {
		address = "tcp://127.0.0.1:0"
	}
	first := startExtended(t, "a", sabir.WithExtension(a), sabir.Join(address, options...))
	return first, startExtended(t, "b", sabir.WithExtension(b), sabir.Join(first.Info().Addr, options...))
}

func overNetworks(t *testing.T, test func(t *testing.T, network string)) {
	for _, network := range []string{"mem", "tcp"} {
		t.Run(network, func(t *testing.T) { test(t, network) })
	}
}

func TestAnExtensionGetsEachLinkThenItsPostsInOrderThenItsEnd(t *testing.T) {
	const links, posts = 3, 20
	overNetworks(t, func(t *testing.T, network string) {
		recorders := map[string]*recorder{"a": newRecorder(), "b": newRecorder()}
		arrived := make(chan struct{}, 100)
		for _, r := range recorders {
			// On the reader, before New has returned on this side, and long before the peer's node knows of the link.
			r.onLinked = func(l *wire.Link) {
				for i := range posts {
					if !l.TryPost(topicOfTest, fmt.Append(nil, i)) {
						t.Error("a new link took no post")
					}
				}
			}
			r.onPosted = func(_ *wire.Link, data string) {
				if data == fmt.Sprint(posts-1) {
					arrived <- struct{}{}
				}
			}
		}
		a, b := startPair(t, network, recorders["a"], recorders["b"], cluster.Links{Connections: links})
		for range 2 * links {
			<-arrived
		}
		stopIfRunning(t, a)
		recordersEnd(t, recorders["a"], "b", links, posts)
		stopIfRunning(t, b)
		recordersEnd(t, recorders["b"], "a", links, posts)
	})
}

// recordersEnd checks all that a recorder received until its node had stopped.
func recordersEnd(t *testing.T, r *recorder, peer string, links, posts int) {
	t.Helper()
	byLink := map[*wire.Link][]string{}
	for _, h := range r.rest() {
		if h.link == nil {
			continue
		}
		if got := h.link.Peer().Node; got != peer {
			t.Errorf("a link to %q", got)
		}
		if h.what == "unlinked" && !errors.Is(h.err, wire.ErrClosed) {
			t.Errorf("a link ended with %v", h.err)
		}
		byLink[h.link] = append(byLink[h.link], h.what+h.data)
	}
	want := []string{"linked"}
	for i := range posts {
		want = append(want, fmt.Sprint("posted", i))
	}
	want = append(want, "unlinked")
	if len(byLink) < links { // one more where both dialled at the same time
		t.Errorf("%d links to %s, not %d", len(byLink), peer, links)
	}
	for _, got := range byLink {
		if !slices.Equal(got, want) {
			t.Errorf("of a link to %s was received\n%v, not\n%v", peer, got, want)
		}
	}
}

func TestLinksOfANodeThatStopsCarryPostsBothWaysUntilItsExtensionsHaveStopped(t *testing.T) {
	overNetworks(t, func(t *testing.T, network string) {
		a, b := newRecorder(), newRecorder()
		stopping, goOn := make(chan struct{}), make(chan struct{})
		a.stop = func() error { close(stopping); <-goOn; return nil }
		stopped := false
		s := sabir.NewService("last", sabir.OnStop(func(context.Context) error { stopped = true; return nil }))
		address := "mem://" + strings.ReplaceAll(t.Name(), "/", "-")
		if network == "tcp" {
			address = "tcp://127.0.0.1:0"
		}
		nodeA := startExtended(t, "a", sabir.Serve(s), sabir.WithExtension(a), sabir.Join(address))
		nodeB := startExtended(t, "b", sabir.WithExtension(b), sabir.Join(nodeA.Info().Addr))
		toB, toA := a.next(t, "linked").link, b.next(t, "linked").link

		done := make(chan error)
		go func() { done <- nodeA.Stop(context.Background()) }()
		<-stopping
		if !stopped {
			t.Error("the extension was stopped before the services")
		}
		if _, err := sabir.Call[string](t.Context(), nodeB, "last.word", sabir.Empty{}); err == nil {
			t.Error("the node that stops takes calls")
		}
		large := strings.Repeat("x", 300_000)
		for _, data := range []string{"1", large, "2"} {
			for _, way := range []struct {
				from *wire.Link
				to   *recorder
			}{{toB, b}, {toA, a}} {
				if err := way.from.Post(t.Context(), topicOfTest, []byte(data)); err != nil {
					t.Fatalf("a post over a retired link: %v", err)
				}
				if got := way.to.next(t, "posted").data; got != data {
					t.Fatalf("%d bytes arrived, not %d", len(got), len(data))
				}
			}
		}
		close(goOn)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestWhatAnExtensionPostsWhileItStopsArrives(t *testing.T) {
	overNetworks(t, func(t *testing.T, network string) {
		// A node that is given no time to read within the closing time may not get all. That is no fault, and shows in how long
		// the stop takes.
		for range 20 {
			if postedWhileStopping(t, network) {
				return
			}
		}
		t.Error("the other node never took the goodbye in time")
	})
}

// postedWhileStopping is false where the node that stopped no longer waited for the other one.
func postedWhileStopping(t *testing.T, network string) bool {
	const posts, goodbye = 500, 3 * time.Second
	a, b := newRecorder(), newRecorder()
	var toB *wire.Link
	var posted time.Time
	a.stop = func() error {
		for i := range posts {
			if err := toB.Post(context.Background(), topicOfTest, append(fmt.Append(nil, i, " "), make([]byte, 4<<10)...)); err != nil {
				return err
			}
		}
		posted = time.Now()
		return nil
	}
	nodeA, nodeB := startPair(t, network, a, b)
	defer stopIfRunning(t, nodeB)
	toB = a.next(t, "linked").link
	stopIfRunning(t, nodeA)
	if time.Since(posted) >= goodbye {
		return false
	}
	b.next(t, "linked")
	for i := range posts {
		if got, _, _ := strings.Cut(b.next(t, "posted").data, " "); got != fmt.Sprint(i) {
			t.Fatalf("post %s came for %d", got, i)
		}
	}
	return true
}

func TestAnExtensionStartsBeforeTheNodeJoinsAndTheServicesStart(t *testing.T) {
	r := newRecorder()
	r.start = func(n *sabir.Node) error {
		if n.ID() != "a" || n.State() != "starting" || n.Info().Addr != "" {
			t.Errorf("%s is %v at %q", n.ID(), n.State(), n.Info().Addr)
		}
		return nil
	}
	s := sabir.NewService("after", sabir.OnStart(func(context.Context) error {
		if got := r.next(t, "start"); got.what != "start" {
			t.Error("the service starts before the extension")
		}
		return nil
	}))
	startExtended(t, "a", sabir.Serve(s), sabir.WithExtension(r), sabir.Join("mem://extension-first"))
}

func TestAnExtensionIsStoppedOnceHoweverTheNodeEnds(t *testing.T) {
	failing := errors.New("no")
	fails := newRecorder()
	fails.start = func(*sabir.Node) error { return failing }
	panics := newRecorder()
	panics.start = func(*sabir.Node) error { panic("oh") }
	for name, c := range map[string]struct {
		options []sabir.NodeOption
		want    string // of the error
	}{
		"the node stops":           {nil, ""},
		"another does not start":   {[]sabir.NodeOption{sabir.WithExtension(fails.on(topicOfTest + 1))}, "the start of extension recorder: no"},
		"another panics":           {[]sabir.NodeOption{sabir.WithExtension(panics.on(topicOfTest + 1))}, "the start of extension recorder panicked"},
		"the node cannot join":     {[]sabir.NodeOption{sabir.Join("tcp://not a host:1")}, "JoinFailed"},
		"a service does not start": {[]sabir.NodeOption{sabir.Serve(sabir.NewService("s", sabir.OnStart(func(context.Context) error { return failing })))}, "no"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder()
			n := sabir.NewNode(append([]sabir.NodeOption{sabir.Logger(quiet), sabir.WithExtension(r)}, c.options...)...)
			err := n.Start(t.Context())
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				stopIfRunning(t, n)
			} else if e := sabir.AsError(err); e == nil || e.Name != c.want && !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error of Start is %v", err)
			}
			var got []string
			for _, h := range r.rest() {
				got = append(got, h.what)
			}
			if !slices.Equal(got, []string{"start", "stop"}) {
				t.Errorf("got %v", got)
			}
		})
	}
	for _, r := range []*recorder{fails, panics} {
		for _, h := range r.rest() {
			if h.what == "stop" {
				t.Error("an extension that did not start was stopped")
			}
		}
	}
}

func TestTheErrorOfAnExtensionsStopIsThatOfTheNodes(t *testing.T) {
	r := newRecorder()
	failing := errors.New("stuck")
	r.stop = func() error { return failing }
	n := sabir.NewNode(sabir.Logger(quiet), sabir.WithExtension(r))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.Stop(t.Context()); !errors.Is(err, failing) || !strings.Contains(err.Error(), "the stop of extension recorder") {
		t.Errorf("got %v", err)
	}
}

func TestTopicsThatAnExtensionCannotHaveAreErrorsOfTheStart(t *testing.T) {
	for name, c := range map[string]struct {
		extend []sabir.NodeOption
		want   []string
	}{
		"one of the node's own": {[]sabir.NodeOption{sabir.WithExtension(newRecorder().on(15))}, []string{"recorder", "topic 15", "16 to 255"}},
		"one taken":             {[]sabir.NodeOption{sabir.WithExtension(newRecorder().on(16)), sabir.WithExtension(newRecorder().on(16))}, []string{"recorder and recorder", "topic, 16"}},
		"nil":                   {[]sabir.NodeOption{sabir.WithExtension(nil)}, []string{"an extension", "nil"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := sabir.NewNode(append(c.extend, sabir.Logger(quiet))...).Start(t.Context())
			if e := sabir.AsError(err); e == nil || e.Code != sabir.CodeInvalidArgument {
				t.Fatalf("got %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
		})
	}
}

func TestPostsOnAnUnknownTopicAreIgnored(t *testing.T) {
	a, b := newRecorder(), newRecorder()
	_, nodeB := startPair(t, "mem", a, b)
	l := a.next(t, "linked").link
	for _, topic := range []uint8{0, 15, 16, 255, topicOfTest} {
		if !l.TryPost(topic, []byte("hello")) {
			t.Fatal("not posted")
		}
	}
	if got := b.next(t, "posted").data; got != "hello" {
		t.Errorf("got %q", got)
	}
	for _, h := range b.rest() {
		if h.what != "linked" { // another link, where both dialled at the same time
			t.Errorf("%s %q", h.what, h.data)
		}
	}
	if nodes := nodeB.Nodes(); len(nodes) != 2 {
		t.Errorf("the nodes are %v", nodes)
	}
}

func TestAPanicOfAnExtensionIsLoggedAndEndsTheLinkAloneWithAnError(t *testing.T) {
	for _, where := range []string{"Linked", "Posted", "Unlinked"} {
		t.Run(where, func(t *testing.T) {
			logged := make(chan string, 100)
			log := slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
				if bytes.Contains(p, []byte("level=ERROR")) {
					logged <- string(p)
				}
				return len(p), nil
			}), nil))
			once := make(chan struct{}, 1)
			once <- struct{}{}
			fall := func() {
				select {
				case <-once:
					panic("the sky")
				default:
				}
			}
			a, b := newRecorder(), newRecorder()
			switch where {
			case "Linked":
				b.onLinked = func(*wire.Link) { fall() }
			case "Posted":
				b.onPosted = func(*wire.Link, string) { fall() }
			case "Unlinked":
				b.onClosing = fall
			}
			other := newRecorder() // is notified of everything nevertheless
			address := "mem://extension-panics-in-" + where
			startExtended(t, "a", sabir.WithExtension(a), sabir.Join(address))
			startLogged(t, "b", log, sabir.WithExtension(b), sabir.WithExtension(other.on(topicOfTest+1)), sabir.Join(address))
			first := a.next(t, "linked").link
			first.TryPost(topicOfTest, nil)
			if where == "Unlinked" {
				first.Close(nil)
			}
			line := <-logged
			for _, want := range []string{where + " of extension recorder", "the sky", "recorder).", "node=b", "peer=a"} {
				if !strings.Contains(line, want) {
					t.Errorf("%q is not in %s", want, line)
				}
			}
			ended := b.next(t, "unlinked")
			if _, panicked := errors.AsType[*sabir.Error](ended.err); panicked != (where != "Unlinked") {
				t.Errorf("the link ended with %v", ended.err)
			}
			if got := other.next(t, "unlinked"); got.link != ended.link {
				t.Error("the other extension was called for another link")
			}
			first.TryPost(topicOfTest, []byte("again")) // it may stand: the other one ended, where both had dialled at the same time
			limit := time.After(time.Minute)
			for again := false; !again; {
				select {
				case h := <-a.received:
					if h.what == "linked" { // they link anew
						h.link.TryPost(topicOfTest, []byte("again"))
					}
				case h := <-b.received:
					again = h.what == "posted" && h.data == "again"
				case <-limit:
					t.Fatal("the nodes have no link any more")
				}
			}
		})
	}
}

// sink is an extension that takes posts, and reports its links and posts without data.
type sink struct {
	links chan *wire.Link
	ended chan struct{}
}

var _ mesh.Extension = (*sink)(nil)

func (s *sink) Name() string                             { return "sink" }
func (s *sink) Topic() uint8                             { return topicOfTest }
func (s *sink) Start(context.Context, *sabir.Node) error { return nil }
func (s *sink) Stop(context.Context) error               { return nil }
func (s *sink) Unlinked(*wire.Link, error)               {}
func (s *sink) Linked(l *wire.Link) {
	select {
	case s.links <- l:
	default: // one is enough: there are two where both dialled at the same time
	}
}
func (s *sink) Posted(_ *wire.Link, data []byte) {
	if len(data) == 0 {
		s.ended <- struct{}{}
	}
}

// BenchmarkExtensionPosts is a flood of posts from one node to another in this process, until the other's extension has got
// them all.
func BenchmarkExtensionPosts(b *testing.B) {
	for _, size := range []int{128, 2 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			from, to := &sink{make(chan *wire.Link, 1), nil}, &sink{make(chan *wire.Link, 1), make(chan struct{})}
			address := "tcp://127.0.0.1:0"
			for i, e := range []sabir.Extension{to, from} {
				n := sabir.NewNode(sabir.NodeID(fmt.Sprint("node-", i)), sabir.Logger(quiet), sabir.WithExtension(e), sabir.Join(address))
				if err := n.Start(b.Context()); err != nil {
					b.Fatal(err)
				}
				defer n.Stop(context.Background())
				address = n.Info().Addr
			}
			l, data, ctx := <-from.links, make([]byte, size), context.Background()
			b.SetBytes(int64(size))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if err := l.Post(ctx, topicOfTest, data); err != nil {
					b.Fatal(err)
				}
			}
			if err := l.Post(ctx, topicOfTest, nil); err != nil {
				b.Fatal(err)
			}
			<-to.ended
			b.StopTimer()
		})
	}
}
