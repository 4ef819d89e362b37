package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/errname"
)

var limitBehaviours = []behaviour{
	{"a node of a cluster with another name is refused, and gets the reason, or does not meet this one", otherCluster},
	{"a node with the wrong cluster key is refused, and gets the reason", wrongKey},
	{"a node without the cluster key is refused, and gets the reason", missingKey},
	{"a node with a key is refused where the others have none, and gets the reason", needlessKey},
	{"a cluster key that is too short keeps the node from starting", shortKey},
	{"a node that was refused leaves nothing behind at the one that refused it", refusedLeavesNothing},
	{"an input larger than the other node takes is an error that names sizes and node", largeInput},
	{"an answer larger than the caller takes is an error that names sizes and node", largeAnswer},
	{"a stream value larger than the other side takes ends the stream with such an error", largeStreamValue},
	{"metadata that is too large is an error, and the link stands", largeMetadata},
	{"calls above the limit of a node are refused as exhausted and retryable", tooManyOnNode},
	{"of the calls above the limit of a link as many wait for a place, and more are refused as exhausted", tooManyOnLink},
	{"streams above the limit of a link are refused as exhausted and retryable", tooManyStreams},
	{"error data that is too large is left out, and the error arrives", largeErrorData},
}

// refusal is the error of a node that tries to join with other options.
func refusal(t *testing.T, c *testCluster) error {
	t.Helper()
	n := sabir.NewNode(c.options("stranger", nil)...)
	err := n.Start(brief(t))
	if err == nil {
		stop(t, n)
	}
	return err
}

func checkRefusal(t *testing.T, c *testCluster, err error, words ...string) {
	t.Helper()
	if !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, errname.JoinFailed, "")) || !contains(err.Error(), words...) || !contains(err.Error(), c.shown()) {
		t.Errorf("got %v", err)
	}
}

const (
	oneKey   = "a key of the cluster, 32 bytes.."
	otherKey = "another key, of as many bytes..."
)

func otherCluster(t *testing.T, s *suite) {
	c := s.cluster(t)
	a := c.start("a")
	if s.Broker { // where it finds a cluster of its own
		if err := refusal(t, c.called("other")); err != nil || len(a.Nodes()) != 1 {
			t.Errorf("got %v; a lists %+v", err, a.Nodes())
		}
		return
	}
	checkRefusal(t, c, refusal(t, c.called("other")), "cluster name differs", c.name)
}

func wrongKey(t *testing.T, s *suite) {
	c := s.cluster(t)
	c.key = oneKey
	c.start("a")
	c.key = otherKey
	err := refusal(t, c)
	if s.Broker {
		checkRefusal(t, c, err, "key") // the broker itself may report it
	} else {
		checkRefusal(t, c, err, "wrong key")
	}
	if contains(err.Error(), oneKey) || contains(err.Error(), otherKey) {
		t.Errorf("the error holds a key: %v", err)
	}
}

func missingKey(t *testing.T, s *suite) {
	c := s.cluster(t)
	c.key = oneKey
	c.start("a")
	c.key = ""
	checkRefusal(t, c, refusal(t, c), "key")
}

func needlessKey(t *testing.T, s *suite) {
	c := s.cluster(t)
	c.key = ""
	c.start("a")
	c.key = oneKey
	checkRefusal(t, c, refusal(t, c), "key")
}

func shortKey(t *testing.T, s *suite) {
	c := s.cluster(t)
	c.key = "short"
	if err := refusal(t, c); err == nil || !contains(err.Error(), "16") {
		t.Errorf("got %v", err)
	}
}

func refusedLeavesNothing(t *testing.T, s *suite) {
	c := s.cluster(t)
	a := c.start("a", sabir.Serve(reportingService("svc")))
	key := c.key
	c.key = otherKey
	for range 3 {
		if refusal(t, c) == nil {
			t.Fatal("it was not refused")
		}
	}
	c.key = key
	if sees(a, "stranger") || len(a.Nodes()) != 1 {
		t.Errorf("a lists %+v", a.Nodes())
	}
	b := c.start("b")
	must(t, b.WaitFor(brief(t), "svc"))
}

// strict is a caller and a node, each with limits of its own, where the second offers what the test needs.
func (s *suite) strict(t *testing.T, caller, server cluster.Limits, service *sabir.Service) (from *sabir.Node) {
	c := s.cluster(t)
	c.join("server", []cluster.Option{server}, sabir.Serve(service))
	from = c.join("caller", []cluster.Option{caller})
	must(t, from.WaitFor(brief(t), service.Name()))
	return from
}

func echoes() *sabir.Service {
	s := sabir.NewService("svc")
	sabir.Handle(s, "echo", func(_ context.Context, in []byte) ([]byte, error) { return in, nil })
	sabir.Handle(s, "make", func(_ context.Context, size int) ([]byte, error) { return pattern(size, 6), nil })
	sabir.HandleStream(s, "stream", func(_ context.Context, s *sabir.Stream[[]byte, []byte]) error {
		for in, err := range s.All() {
			if err != nil {
				return err
			}
			if err := s.Send(in); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

const megabyte = 1 << 20

func checkTooLarge(t *testing.T, err error, words ...string) {
	t.Helper()
	e := sabir.AsError(err)
	if e == nil || e.Code != sabir.CodeResourceExhausted || e.Retryable || !contains(e.Message, append(words, "1048576")...) {
		t.Errorf("got %+v", e)
	}
}

func largeInput(t *testing.T, s *suite) {
	from := s.strict(t, cluster.Limits{}, cluster.Limits{Message: megabyte}, echoes())
	_, err := sabir.Call[[]byte](brief(t), from, "svc.echo", pattern(megabyte+100, 7))
	checkTooLarge(t, err, "server")
	fits := pattern(megabyte-100, 7)
	if out, err := sabir.Call[[]byte](brief(t), from, "svc.echo", fits); err != nil || !bytes.Equal(out, fits) {
		t.Errorf("one that just fits: %d bytes, %v", len(out), err)
	}
}

func largeAnswer(t *testing.T, s *suite) {
	from := s.strict(t, cluster.Limits{Message: megabyte}, cluster.Limits{}, echoes())
	_, err := sabir.Call[[]byte](brief(t), from, "svc.make", megabyte+100)
	checkTooLarge(t, err, "caller")
	if out, err := sabir.Call[[]byte](brief(t), from, "svc.make", megabyte-100); err != nil || len(out) != megabyte-100 {
		t.Errorf("one that just fits: %d bytes, %v", len(out), err)
	}
}

func largeStreamValue(t *testing.T, s *suite) {
	from := s.strict(t, cluster.Limits{}, cluster.Limits{Message: megabyte}, echoes())
	stream, err := sabir.OpenStream[[]byte, []byte](brief(t), from, "svc.stream")
	must(t, err)
	defer stream.Close()
	if err := stream.Send(pattern(megabyte+100, 8)); err != io.EOF {
		checkTooLarge(t, err, "server")
		return
	}
	_, err = stream.Recv()
	checkTooLarge(t, err, "server")
}

func largeMetadata(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, greet)
	ctx := sabir.WithMetadata(brief(t), "huge", string(bytes.Repeat([]byte("x"), 100<<10)))
	_, err := sabir.Call[reply](ctx, w.ann, action, greeting{"Ada"})
	if e := sabir.AsError(err); e == nil || e.Code != sabir.CodeResourceExhausted || e.Retryable || !contains(e.Message, "metadata") {
		t.Errorf("got %+v", e)
	}
	if _, err := sabir.Call[reply](brief(t), w.ann, action, greeting{"Ada"}); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

// room returns a service whose action "it" stays in flight until free lets it go on.
func room(began chan<- struct{}, free <-chan struct{}) *sabir.Service {
	s := sabir.NewService("svc")
	sabir.Handle(s, "it", func(_ context.Context, in int) (int, error) {
		began <- struct{}{}
		<-free
		return in, nil
	})
	sabir.HandleStream(s, "stream", double)
	return s
}

func tooManyOnNode(t *testing.T, s *suite) {
	began, free := make(chan struct{}, 10), make(chan struct{})
	from := s.strict(t, cluster.Limits{}, cluster.Limits{Node: 3}, room(began, free))
	answered := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := sabir.Call[int](context.Background(), from, "svc.it", 1)
			answered <- err
		}()
	}
	for range 3 {
		get(t, "a call at its handler", began)
	}
	_, err := sabir.Call[int](brief(t), from, "svc.it", 1)
	if e := sabir.AsError(err); e == nil || e.Code != sabir.CodeResourceExhausted || !e.Retryable || e.Node != "server" || len(began) > 0 {
		t.Errorf("one more: %+v", e)
	}
	close(free)
	for range 3 {
		must(t, get(t, "the answer", answered))
	}
	eventually(t, "there is room again", func() bool {
		_, err := sabir.Call[int](brief(t), from, "svc.it", 1)
		return err == nil
	})
}

func tooManyOnLink(t *testing.T, s *suite) {
	began, free := make(chan struct{}, 1000), make(chan struct{})
	from := s.strict(t, cluster.Limits{}, cluster.Limits{Calls: 3}, room(began, free))
	const calls = 500 // more than hold and wait for the places of any number of connections
	answered := make(chan error, calls)
	for range calls {
		go func() {
			_, err := sabir.Call[int](context.Background(), from, "svc.it", 1)
			answered <- err
		}()
	}
	for range 3 {
		get(t, "a call at its handler", began)
	}
	first := get(t, "a refusal", answered) // before anything is free
	close(free)
	done := 0
	for err := first; ; err = get(t, "an answer", answered) {
		if e := sabir.AsError(err); e == nil {
			done++
		} else if e.Code != sabir.CodeResourceExhausted || !e.Retryable {
			t.Errorf("got %+v", e)
		}
		if done+len(answered) == calls || done >= 6 {
			break
		}
	}
	if first == nil || done < 6 {
		t.Errorf("the first answer is %v; three calls hold a place and three wait, %d were done", first, done)
	}
}

func tooManyStreams(t *testing.T, s *suite) {
	from := s.strict(t, cluster.Limits{}, cluster.Limits{Streams: 2}, room(nil, nil))
	open := func() (*sabir.Stream[int, int], error) {
		return sabir.OpenStream[int, int](brief(t), from, "svc.stream")
	}
	var streams []*sabir.Stream[int, int]
	for range 64 { // each connection takes two
		stream, err := open()
		if err != nil {
			if e := sabir.AsError(err); e.Code != sabir.CodeResourceExhausted || !e.Retryable {
				t.Errorf("got %+v", e)
			}
			break
		}
		defer stream.Close()
		streams = append(streams, stream)
	}
	if len(streams) < 2 || len(streams) == 64 {
		t.Fatalf("%d streams were opened", len(streams))
	}
	for _, stream := range streams {
		stream.Close()
	}
	eventually(t, "there is room again", func() bool {
		stream, err := open()
		if err != nil {
			return false
		}
		stream.Close()
		return true
	})
}

func largeErrorData(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, func(context.Context, int) (int, error) {
		return 0, errOutOfStock.WithData(string(bytes.Repeat([]byte("x"), megabyte)))
	})
	_, err := sabir.Call[int](brief(t), w.ann, action, 1)
	if !errors.Is(err, errOutOfStock) {
		t.Errorf("got %.200s", err)
	}
}
