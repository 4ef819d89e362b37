package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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
	for range 20 {
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
							s.CloseSend()
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
	synctest.Test(t, func(t *testing.T) {
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
	synctest.Test(t, func(t *testing.T) {
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

func TestACallOnAStuckLinkEndsByItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
	if idle.links != 0 || idle.first != nil {
		t.Fatalf("%d links, idle workers: %v", idle.links, idle.first != nil)
	}
}
