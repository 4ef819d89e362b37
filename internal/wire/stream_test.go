package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func openStream(t *testing.T, l *Link, name string) *Stream {
	t.Helper()
	s, err := l.Open(t.Context(), l.Declare(StreamRoute, name, "bytes"), Meta{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func send(t *testing.T, s *Stream, value string) {
	t.Helper()
	if err := s.Send(t.Context(), append(AppendRef(nil, 0), value...)); err != nil {
		t.Fatal(err)
	}
}

func TestAStreamCarriesMessagesOfAllSizesInOrderBothWays(t *testing.T) {
	for _, network := range []string{"tcp", "mem"} {
		server := newNode()
		server.streams["echo"] = func(s *Stream) {
			for {
				value, _, err := s.Recv()
				if err == io.EOF {
					return
				}
				if err == nil {
					err = s.Send(s.Context(), append(AppendRef(nil, 0), value...))
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		}
		p := newPair(t, network, newNode(), server)
		s := openStream(t, p.client, "echo")
		sizes := []int{0, 1, 100, 1 << 10, chunkSize - 1, chunkSize, 300_000, 2 << 20, 5}
		message := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, sizes[i%len(sizes)]) }
		const n = 60
		var sending sync.WaitGroup
		sending.Go(func() {
			for i := range n {
				if err := s.Send(t.Context(), append(AppendRef(nil, 0), message(i)...)); err != nil {
					t.Error(err)
				}
			}
			s.EndSends()
		})
		for i := range n {
			value, schema, err := s.Recv()
			if err != nil || schema != nil || !bytes.Equal(value, message(i)) {
				t.Fatalf("%s: message %d: %d bytes, %v", network, i, len(value), err)
			}
		}
		if _, _, err := s.Recv(); err != io.EOF {
			t.Fatal(err)
		}
		sending.Wait()
		if n := p.client.InFlight(); n != 0 {
			t.Fatalf("%d in flight", n)
		}
	}
}

func TestTheFailureOfAStreamComesAfterItsMessages(t *testing.T) {
	server := newNode()
	server.streams["fail"] = func(s *Stream) {
		s.Send(s.Context(), []byte("\x00one"))
		s.End(&Failure{Code: 9, Name: "Full", Message: "no more room"})
	}
	p := newPair(t, "tcp", newNode(), server)
	s := openStream(t, p.client, "fail")
	if value, _, err := s.Recv(); err != nil || string(value) != "one" {
		t.Fatalf("%q, %v", value, err)
	}
	_, _, err := s.Recv()
	if f, ok := errors.AsType[*Failure](err); !ok || f.Name != "Full" {
		t.Fatalf("got %v", err)
	}
	if err := s.Send(t.Context(), []byte{0}); err != io.EOF {
		t.Fatalf("Send after the end: %v", err)
	}
}

func TestASenderWaitsForTheReceiver(t *testing.T) {
	begin := make(chan struct{})
	server := newNode()
	server.streams["slow"] = func(s *Stream) {
		<-begin
		for {
			if _, _, err := s.Recv(); err != nil {
				return
			}
		}
	}
	p := newPair(t, "tcp", newNode(), server, func(_, server *Config) { server.Limits.Window = 10_000 })
	s := openStream(t, p.client, "slow")
	sent, total := 0, 0
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := s.Send(ctx, make([]byte, 1000))
		cancel()
		if err == context.DeadlineExceeded {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		sent++
	}
	if sent != 10 { // the last one passes the window
		t.Fatalf("%d messages of 1000 bytes were sent into a window of 10 000", sent)
	}
	close(begin)
	for total = range 100 {
		send(t, s, "more")
	}
	s.EndSends()
	if _, _, err := s.Recv(); err != io.EOF {
		t.Fatal(err, total)
	}
}

func TestCancelEndsTheStreamForBothSides(t *testing.T) {
	ended := make(chan error, 3)
	server := newNode()
	server.streams["hang"] = func(s *Stream) {
		<-s.Context().Done()
		ended <- s.Context().Err()
		_, _, err := s.Recv()
		ended <- err
		ended <- s.Send(t.Context(), []byte{0})
	}
	p := newPair(t, "tcp", newNode(), server)
	for _, byContext := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		s, err := p.client.Open(ctx, p.client.Declare(StreamRoute, "hang", ""), Meta{})
		if err != nil {
			t.Fatal(err)
		}
		if byContext {
			cancel()
		} else {
			s.Cancel()
		}
		_, _, err = s.Recv()
		if byContext && err != context.Canceled {
			t.Fatalf("Recv: %v", err)
		}
		if f, ok := errors.AsType[*Failure](err); !byContext && (!ok || f.Name != NameCanceled) {
			t.Fatalf("Recv: %v", err)
		}
		if err := <-ended; err != context.Canceled {
			t.Fatalf("the server's context: %v", err)
		}
		if f, ok := errors.AsType[*Failure](<-ended); !ok || f.Name != NameCanceled {
			t.Fatalf("the server's Recv: %v", f)
		}
		if err := <-ended; err != io.EOF {
			t.Fatalf("the server's Send: %v", err)
		}
		cancel()
		for p.client.InFlight() > 0 { // until the server has answered
			runtime.Gosched()
		}
	}
}

func TestManyStreamsAtOnceKeepApart(t *testing.T) {
	server := newNode()
	server.streams["double"] = func(s *Stream) {
		for {
			value, _, err := s.Recv()
			if err != nil {
				return
			}
			if s.Send(s.Context(), append(AppendRef(nil, 0), append(value, value...)...)) != nil {
				return
			}
		}
	}
	p := newPair(t, "tcp", newNode(), server)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			s := openStream(t, p.client, "double")
			for j := range 50 {
				text := fmt.Sprint(i, "/", j, ";")
				send(t, s, text)
				if value, _, err := s.Recv(); err != nil || string(value) != text+text {
					t.Errorf("stream %d: %q, %v", i, value, err)
					return
				}
			}
			s.EndSends()
			if _, _, err := s.Recv(); err != io.EOF {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestMoreStreamsThanThePeerAcceptsFail(t *testing.T) {
	server := newNode()
	server.streams["hang"] = func(s *Stream) { <-s.Context().Done() }
	p := newPair(t, "tcp", newNode(), server, func(_, server *Config) { server.Limits.Streams = 2 })
	first, second := openStream(t, p.client, "hang"), openStream(t, p.client, "hang")
	_, err := p.client.Open(t.Context(), first.Route, Meta{})
	if f, ok := errors.AsType[*Failure](err); !ok || f.Name != NameTooManyStreams || !f.Retryable {
		t.Fatalf("got %v", err)
	}
	second.Cancel()
	for p.client.InFlight() > 1 {
		runtime.Gosched()
	}
	openStream(t, p.client, "hang").Cancel()
	first.Cancel()
}

func TestPostsArrive(t *testing.T) {
	posts := make(chan string, 4)
	server := newNode()
	server.post = func(_ *Link, topic uint8, data []byte) { posts <- fmt.Sprint(topic, " ", len(data)) }
	p := newPair(t, "tcp", newNode(), server)
	for _, size := range []int{3, 200_000} {
		if err := p.client.Post(t.Context(), 2, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if got, want := <-posts, fmt.Sprint(2, " ", size); got != want {
			t.Fatalf("got %s", got)
		}
	}
	if !p.client.TryPost(3, []byte("abc")) || <-posts != "3 3" {
		t.Fatal("TryPost")
	}
	if p.client.TryPost(3, make([]byte, chunkSize)) {
		t.Fatal("TryPost of more than it may take")
	}
}

// Otherwise Retire would go by a moment in which a stream of this side is half counted, and leave one of the peer behind.
func TestAStreamOfThePeerIsCountedWhileOthersComeAndGo(t *testing.T) {
	tables, l := streamTables{}, &Link{}
	if !tables.addTheirs(&Stream{id: 1 << indexBits}, 1) {
		t.Fatal("there is no room")
	}
	var over atomic.Bool
	go func() {
		defer over.Store(true)
		for range 100_000 {
			s := &Stream{link: l}
			tables.addOwn(s, 1)
			tables.removeOwn(s)
		}
	}()
	for !over.Load() {
		if n := tables.theirsOpen(); n != 1 {
			t.Fatalf("%d are open", n)
		}
	}
}
