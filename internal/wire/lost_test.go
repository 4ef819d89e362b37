package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestALostLinkEndsEverythingAtOnce(t *testing.T) {
	for _, network := range []string{"tcp", "mem"} {
		served := make(chan struct{}, 10)
		ended := make(chan error, 10)
		server := newNode()
		server.serve["hang"] = func(in *Inbound) { served <- struct{}{}; <-in.Context().Done(); ended <- in.Context().Err() }
		server.streams["hang"] = func(s *Stream) { served <- struct{}{}; <-s.Context().Done(); ended <- s.Context().Err() }
		client := newNode()
		p := newPair(t, network, client, server)
		results := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		for range 3 {
			go func() { _, err := call(ctx, p.client, "hang", nil); results <- err }()
		}
		s := openStream(t, p.client, "hang")
		for range 4 {
			<-served
		}
		why := errors.New("the cable was pulled")
		p.client.Close(why)
		for range 3 {
			if lost, ok := errors.AsType[*LostError](<-results); !ok || !lost.Sent || lost.Err != why || lost.Node != "server" {
				t.Fatalf("a call ended with %v", lost)
			}
		}
		if _, _, err := s.Recv(); !errors.Is(err, why) {
			t.Fatalf("the stream ended with %v", err)
		}
		for range 4 {
			if err := <-ended; err != context.Canceled {
				t.Fatalf("a context of the server ended with %v", err)
			}
		}
		if err := <-client.closed; err != why || p.client.Err() != why {
			t.Fatalf("Closed got %v", err)
		}
		if err := <-server.closed; err == nil {
			t.Fatal("the server saw no reason")
		}
		_, err := call(ctx, p.client, "hang", nil)
		if lost, ok := errors.AsType[*LostError](err); !ok || lost.Sent {
			t.Fatalf("a call on an ended link: %v", err)
		}
		if _, err := p.client.Open(ctx, s.Route, Meta{}); !errors.Is(err, why) {
			t.Fatalf("Open on an ended link: %v", err)
		}
		if err := p.client.Post(ctx, 1, nil); !errors.Is(err, why) || p.client.TryPost(1, nil) {
			t.Fatalf("Post on an ended link: %v", err)
		}
		cancel()
	}
}

// listening is a node that looks at the link when its end is reported.
type listening struct {
	*node
	closing func()
}

func (n listening) Closed(l *Link, err error) {
	n.closing()
	n.node.Closed(l, err)
}

func TestClosedComesWhenAllThatWasUnderWayHasFailed(t *testing.T) {
	const streams = 200
	for range 50 {
		server := newNode()
		server.streams["hang"] = func(s *Stream) { <-s.Context().Done() }
		a, b := conns(t, "mem")
		var all []*Stream
		opened := make(chan struct{})
		client := listening{newNode(), func() {
			<-opened
			for i, s := range all {
				select {
				case <-s.over:
				default:
					t.Errorf("stream %d of %d goes on", i, streams)
					return
				}
			}
		}}
		near := New(a, peerOfTest(Config{Node: "server"}, true), Config{Node: "client"}, client)
		far := New(b, peerOfTest(Config{Node: "client"}, false), Config{Node: "server"}, server)
		for range streams {
			all = append(all, openStream(t, near, "hang"))
		}
		close(opened)
		go near.Close(nil) // while its reader finds that the other side has closed
		far.Close(nil)
		<-near.finished
		<-far.finished
	}
}

func TestARequestThatIsReadAfterTheEndOfItsLinkIsNotServed(t *testing.T) {
	var served atomic.Bool
	n := newNode()
	n.post = func(l *Link, _ uint8, _ []byte) { l.Close(nil) }
	n.serve["late"] = func(*Inbound) { served.Store(true) }
	a, b := net.Pipe()
	l := New(a, peerOfTest(Config{Node: "there"}, false), Config{Node: "here"}, n)
	go io.Copy(io.Discard, b)
	// Together, so that the request is read with the post that ends the link.
	b.Write(slices.Concat(routeFrame(CallRoute, "late"), frame(0, kindPost, 0, 1), frame(1<<indexBits, kindRequest, flagCancellable, 1, 0)))
	b.Close()
	<-l.finished
	for l.inbound.serving.Load() > 0 { // the worker that has it may be at it yet
		runtime.Gosched()
	}
	if served.Load() {
		t.Error("it was served")
	}
}

func TestDrainLetsCallsOfBothSidesFinish(t *testing.T) {
	for _, network := range []string{"tcp", "mem"} {
		serving, hold := make(chan struct{}, 2), make(chan struct{})
		work := func(in *Inbound) {
			serving <- struct{}{}
			<-hold
			in.Reply(append(AppendRef(in.Buf(), 0), make([]byte, 3<<20)...))
		}
		client, server := newNode(), newNode()
		client.serve["work"], server.serve["work"] = work, work
		p := newPair(t, network, client, server)
		results := make(chan error, 2)
		for _, l := range []*Link{p.client, p.server} {
			go func() {
				value, err := call(context.Background(), l, "work", nil)
				if err == nil && len(value) != 3<<20 {
					err = errors.New("a short reply")
				}
				results <- err
			}()
		}
		<-serving
		<-serving
		drained := make(chan error)
		go func() { drained <- p.server.Drain(t.Context()) }()
		<-client.goAway
		_, err := call(t.Context(), p.client, "work", nil)
		if lost, ok := errors.AsType[*LostError](err); !ok || lost.Sent || lost.Err != ErrGoingAway {
			t.Fatalf("a new call got %v", err)
		}
		close(hold)
		for range 2 {
			if err := <-results; err != nil {
				t.Fatal(err)
			}
		}
		if err := <-drained; err != nil {
			t.Fatal(err)
		}
		if err := <-client.closed; err != ErrClosed {
			t.Fatalf("the client's link ended with %v", err)
		}
		if err := <-server.closed; err != ErrClosed {
			t.Fatalf("the server's link ended with %v", err)
		}
	}
}

func TestDrainWritesTheEndsOfAllStreams(t *testing.T) {
	const streams = 8
	for range 200 {
		end := make(chan struct{})
		client, server := newNode(), newNode()
		server.streams["hold"] = func(*Stream) { <-end }
		p := newPair(t, "mem", client, server)
		var all []*Stream
		for range streams {
			all = append(all, openStream(t, p.client, "hold"))
		}
		drained := make(chan error)
		go func() { drained <- p.server.Drain(t.Context()) }()
		<-client.goAway
		close(end)
		for _, s := range all {
			if _, _, err := s.Recv(); err != io.EOF {
				t.Fatalf("a stream whose handler returned ended with %v", err)
			}
		}
		if err := <-drained; err != nil {
			t.Fatal(err)
		}
	}
}

func TestDrainEndsThoughARefusedCallHadDeclaredSomething(t *testing.T) {
	client, server := newNode(), newNode()
	p := newPair(t, "tcp", client, server, func(client, server *Config) { // no ping takes along what was left
		client.PingInterval, client.SilenceLimit = time.Hour, 3*time.Hour
		server.PingInterval, server.SilenceLimit = time.Hour, 3*time.Hour
	})
	p.server.GoAway()
	<-client.goAway
	p.client.GoAway()
	<-server.goAway
	_, err := call(t.Context(), p.client, "work", nil, func(c *Call) { c.Caller = "one that the server does not know" })
	if lost, ok := errors.AsType[*LostError](err); !ok || lost.Err != ErrGoingAway {
		t.Fatalf("a new call got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := p.client.Drain(ctx); err != nil {
		t.Error(err)
	}
}

func TestDrainThatTakesTooLongClosesAtOnce(t *testing.T) {
	server := newNode()
	hold := make(chan struct{})
	serving := make(chan struct{})
	server.serve["hang"] = func(*Inbound) { close(serving); <-hold }
	p := newPair(t, "tcp", newNode(), server)
	result := make(chan error)
	go func() { _, err := call(context.Background(), p.client, "hang", nil); result <- err }()
	<-serving
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := p.server.Drain(ctx); err != context.DeadlineExceeded {
		t.Fatalf("Drain returned %v", err)
	}
	if _, ok := errors.AsType[*LostError](<-result); !ok {
		t.Fatal("the call did not end with the link")
	}
	close(hold)
}

func TestClosingInTheMiddleOfEverythingLeavesNothingBehind(t *testing.T) {
	for range rounds(20) {
		server := newNode()
		server.serve["echo"] = echo
		server.streams["echo"] = func(s *Stream) {
			for {
				value, _, err := s.Recv()
				if err != nil || s.Send(s.Context(), append(AppendRef(nil, 0), value...)) != nil {
					return
				}
			}
		}
		p := newPair(t, "tcp", newNode(), server)
		var all sync.WaitGroup
		for i := range 30 {
			all.Go(func() {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				for {
					var err error
					switch i % 3 {
					case 0:
						_, err = call(ctx, p.client, "echo", make([]byte, 100))
					case 1:
						_, err = call(context.Background(), p.client, "echo", make([]byte, 300_000))
					case 2:
						var s *Stream
						if s, err = p.client.Open(ctx, p.client.Declare(StreamRoute, "echo", ""), Meta{}); err == nil {
							s.Send(ctx, make([]byte, 100_000))
							s.EndSends()
							for err == nil {
								_, _, err = s.Recv()
							}
							if err == io.EOF {
								err = nil
							}
						}
					}
					if err != nil {
						if _, ok := errors.AsType[*LostError](err); !ok {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		for p.client.Stats().FramesIn < 200 {
			runtime.Gosched()
		}
		p.client.Close(nil)
		all.Wait()
	}
}

// quiet is a connection that takes and gives nothing, for a peer that was stopped.
type quiet struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
	stuck  bool // writes block
}

func (q *quiet) Read([]byte) (int, error) { <-q.closed; return 0, net.ErrClosed }
func (q *quiet) Write(p []byte) (int, error) {
	if q.stuck {
		<-q.closed
		return 0, net.ErrClosed
	}
	return len(p), nil
}
func (q *quiet) Close() error { q.once.Do(func() { close(q.closed) }); return nil }

func TestASilentPeerIsLostAfterTheSilenceLimit(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		began := time.Now()
		n := newNode()
		l := New(&quiet{closed: make(chan struct{})}, peerOfTest(Config{Node: "stopped"}, true), Config{Node: "here"}, n)
		_, err := call(context.Background(), l, "anything", nil)
		if !errors.Is(err, errSilent) {
			t.Fatalf("got %v", err)
		}
		if took := time.Since(began); took < 5*time.Second || took > 7*time.Second {
			t.Fatalf("after %v", took)
		}
		<-l.finished
	})
}

func TestAPeerThatTakesNoByteIsLostAfterTheWriteTimeout(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		began := time.Now()
		c := Config{Node: "here", SilenceLimit: time.Hour, WriteTimeout: 3 * time.Second}
		l := New(&quiet{closed: make(chan struct{}), stuck: true}, peerOfTest(Config{Node: "stopped"}, true), c, newNode())
		if _, err := call(context.Background(), l, "anything", nil); err == nil {
			t.Fatal("no error")
		}
		if took := time.Since(began); took < 3*time.Second || took > 5*time.Second {
			t.Fatalf("after %v", took)
		}
		<-l.finished
	})
}

func TestALinkThatWritesWhileTheProcessStandsStillIsNotLost(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		here, there := net.Pipe() // a write takes until it is read
		l := New(here, peerOfTest(Config{Node: "there"}, true), Config{Node: "here", SilenceLimit: time.Hour}, newNode())
		for l.writeStart.Load() == 0 { // its first ping
			time.Sleep(time.Millisecond)
		}
		l.writeStart.Add(-int64(time.Hour)) // the clock, of which a stop of the process is an hour, is ahead of all that was counted
		time.Sleep(2 * DefaultPingInterval)
		select {
		case <-l.done:
			t.Errorf("the link is lost: %v", l.Err())
		default:
		}
		there.Close()
		<-l.finished
	})
}

func TestACallOnAStuckLinkEndsByItsTimeout(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		began := time.Now()
		l := New(&quiet{closed: make(chan struct{}), stuck: true}, peerOfTest(Config{Node: "stopped"}, true), Config{Node: "here"}, newNode())
		var all sync.WaitGroup
		for range 40 { // more than the outgoing buffer holds
			all.Go(func() {
				_, err := call(context.Background(), l, "anything", make([]byte, 60_000), func(c *Call) { c.Timeout = time.Second })
				if err != context.DeadlineExceeded {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != time.Second {
			t.Errorf("after %v", took)
		}
		l.Close(nil)
		<-l.finished
	})
}

// deaf is a connection whose other side has closed: what it sent is still read, and what is written to it fails.
type deaf struct {
	net.Conn
	sent   chan []byte // closed where what it sent ends
	closed chan struct{}
	once   sync.Once
}

func (d *deaf) Read(p []byte) (int, error) {
	select {
	case <-d.closed: // first, since both may be ready
		return 0, net.ErrClosed
	default:
	}
	select {
	case data, more := <-d.sent:
		if !more {
			return 0, io.EOF
		}
		return copy(p, data), nil
	case <-d.closed:
		return 0, net.ErrClosed
	}
}
func (d *deaf) Write([]byte) (int, error) { return 0, syscall.EPIPE }
func (d *deaf) Close() error              { d.once.Do(func() { close(d.closed) }); return nil }

func TestTheLastFramesOfALeavingPeerAreReadThoughNothingCanBeSentToIt(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		conn := &deaf{sent: make(chan []byte, 2), closed: make(chan struct{})}
		var received []string
		n := newNode()
		n.post = func(_ *Link, _ uint8, data []byte) { received = append(received, string(data)) }
		l := New(conn, peerOfTest(Config{Node: "leaving"}, true), Config{Node: "here"}, n)
		conn.sent <- appendFrame(nil, 0, kindGoAway, 0, nil)
		bubbletest.Wait() // until the answer could not be sent
		conn.sent <- appendFrame(nil, 0, kindPost, 0, []byte("\x10last words"))
		close(conn.sent)
		<-l.finished
		if len(received) != 1 || received[0] != "last words" {
			t.Errorf("received %q", received)
		}
		if err := <-n.closed; err != ErrClosed {
			t.Errorf("the link ended with %v", err)
		}
	})
}

func TestALinkThatCannotSendToAPeerThatGoesEndsThoughThatNeverCloses(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		conn := &deaf{sent: make(chan []byte, 1), closed: make(chan struct{})}
		n := newNode()
		began := time.Now()
		l := New(conn, peerOfTest(Config{Node: "leaving"}, true), Config{Node: "here"}, n)
		conn.sent <- appendFrame(nil, 0, kindGoAway, 0, nil)
		<-l.finished
		if err := <-n.closed; !errors.Is(err, syscall.EPIPE) {
			t.Errorf("the link ended with %v", err)
		}
		if took := time.Since(began); took != closeBound {
			t.Errorf("after %v", took)
		}
	})
}

func TestALinkThatCannotSendToAPeerThatStaysEndsAtOnce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		conn := &deaf{sent: make(chan []byte), closed: make(chan struct{})}
		n := newNode()
		began := time.Now()
		l := New(conn, peerOfTest(Config{Node: "there"}, true), Config{Node: "here"}, n)
		l.TryPost(16, nil)
		<-l.finished
		if err := <-n.closed; !errors.Is(err, syscall.EPIPE) || time.Since(began) != 0 {
			t.Errorf("the link ended with %v after %v", err, time.Since(began))
		}
	})
}

func TestPingsTellLoadAndRoundTrip(t *testing.T) {
	load := func() Load { return Load{CPU: 0.25, Calls: 7, Waiting: 2} }
	p := newPair(t, "tcp", newNode(), newNode(), func(client, server *Config) {
		server.Load, server.PingInterval, server.SilenceLimit = load, time.Millisecond, time.Minute
		client.PingInterval = time.Millisecond
	})
	for p.client.Load() == (Load{}) || p.client.RTT() == 0 {
		runtime.Gosched()
	}
	if got := p.client.Load(); got != load() {
		t.Fatalf("got %+v", got)
	}
}

func TestWorkersEndWithTheLastLink(t *testing.T) {
	server := newNode()
	server.serve["echo"] = echo
	p := newPair(t, "tcp", newNode(), server)
	if _, err := call(t.Context(), p.client, "echo", nil); err != nil {
		t.Fatal(err)
	}
	p.client.Close(nil)
	<-p.client.finished
	<-p.server.finished
	idle.mu.Lock()
	defer idle.mu.Unlock()
	if idle.links != 0 || idle.Idle() != 0 {
		t.Fatalf("%d links, %d idle workers", idle.links, idle.Idle())
	}
}
