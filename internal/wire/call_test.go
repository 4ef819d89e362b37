package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/race"
)

func TestACallReturnsWhatTheTargetReplied(t *testing.T) {
	for _, network := range []string{"tcp", "unix", "mem"} {
		for _, inline := range []bool{true, false} {
			for _, size := range []int{0, 1, 677, chunkSize - 1, chunkSize, chunkSize + 1, 300_000, 5 << 20} {
				t.Run(fmt.Sprintf("%s, inline %v, %d bytes", network, inline, size), func(t *testing.T) {
					server := newNode()
					server.serve["echo"], server.inline = echo, inline
					p := newPair(t, network, newNode(), server)
					want := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
					for range 3 {
						got, err := call(context.Background(), p.client, "echo", want)
						if err != nil {
							t.Fatal(err)
						}
						if !bytes.Equal(got, want) {
							t.Fatalf("got %d bytes that differ from the %d sent", len(got), len(want))
						}
					}
				})
			}
		}
	}
}

func TestACallReturnsThePeersFailure(t *testing.T) {
	want := Failure{Code: 5, Retryable: true, Name: "NotFound", Message: "no such order", Node: "server", Data: []byte(`{"id":7}`)}
	for _, inline := range []bool{true, false} {
		server := newNode()
		server.inline = inline
		server.serve["fail"] = func(in *Inbound) { in.Fail(&want) }
		p := newPair(t, "tcp", newNode(), server)
		_, err := call(t.Context(), p.client, "fail", nil)
		got, ok := errors.AsType[*Failure](err)
		if !ok || !reflect.DeepEqual(*got, want) {
			t.Errorf("inline %v: got %#v", inline, err)
		}
	}
}

func TestMetaTravelsWithACall(t *testing.T) {
	want := Meta{
		Timeout: 1500 * time.Millisecond, RequestID: "r-1", Caller: "orders.place", Level: 3,
		Metadata: map[string]string{"tenant": "aden", "": "empty key", strings.Repeat("long", 100): "a key too long to be interned"},
	}
	got := make(chan Meta, 1)
	server := newNode()
	server.serve["see"] = func(in *Inbound) { got <- in.Meta; in.Reply(AppendRef(in.Buf(), 0)) }
	p := newPair(t, "tcp", newNode(), server)
	for range 3 { // names are declared with the first and only referred to afterwards
		if _, err := call(t.Context(), p.client, "see", nil, func(c *Call) { c.Meta = want }); err != nil {
			t.Fatal(err)
		}
		if got := <-got; !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v", got)
		}
	}
}

func TestNamesBeyondThePeersLimitStillArrive(t *testing.T) {
	server := newNode()
	server.serve["count"] = func(in *Inbound) { in.Reply(append(AppendRef(in.Buf(), 0), byte(len(in.Metadata)))) }
	p := newPair(t, "tcp", newNode(), server, func(_, server *Config) { server.Limits.Names = 3 })
	many := map[string]string{}
	for i := range 20 {
		many[fmt.Sprint("key ", i)] = "x"
	}
	got, err := call(t.Context(), p.client, "count", nil, func(c *Call) { c.Metadata = many })
	if err != nil || got[0] != 20 {
		t.Fatalf("got %v, %v", got, err)
	}
}

func TestSchemasAreDeclaredOnceAndArriveWithTheValue(t *testing.T) {
	type order struct{ ID int64 }
	schema, err := native.SchemaOf(reflect.TypeFor[order]())
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan *Schema, 1)
	server := newNode()
	server.serve["see"] = func(in *Inbound) { got <- in.Schema(); in.Reply(AppendRef(in.Buf(), 0)) }
	p := newPair(t, "tcp", newNode(), server)
	var first *Schema
	for range 2 {
		number, err := p.client.DeclareSchema(schema)
		if err != nil || number != 1 {
			t.Fatalf("number %d, %v", number, err)
		}
		c := p.client.Call(p.client.Declare(CallRoute, "see", "native"))
		if err := c.Do(t.Context(), AppendRef(c.Buf(), number)); err != nil {
			t.Fatal(err)
		}
		c.Free()
		s := <-got
		if s.Hash() != schema.Hash() {
			t.Fatal("another schema arrived")
		}
		if first != nil && s != first {
			t.Fatal("the same schema arrived as another *Schema")
		}
		first = s
	}
}

func TestACallEndsWithItsContextAndCancelsItsHandler(t *testing.T) {
	served, ended := make(chan struct{}), make(chan error, 1)
	server := newNode()
	server.serve["hang"] = func(in *Inbound) {
		close(served)
		ctx := in.Context()
		<-ctx.Done()
		ended <- ctx.Err()
		in.Reply(AppendRef(in.Buf(), 0)) // too late
	}
	server.serve["echo"] = echo
	p := newPair(t, "tcp", newNode(), server)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-served; cancel() }()
	if _, err := call(ctx, p.client, "hang", nil); err != context.Canceled {
		t.Fatalf("the caller got %v", err)
	}
	if err := <-ended; err != context.Canceled {
		t.Fatalf("the server's context ended with %v", err)
	}
	if got, err := call(t.Context(), p.client, "echo", []byte("still there")); err != nil || string(got) != "still there" {
		t.Fatalf("the next call got %q, %v", got, err)
	}
}

func TestALateReplyIsNotTakenForThatOfALaterCall(t *testing.T) {
	late := make(chan struct{})
	server := newNode()
	server.serve["slow"] = func(in *Inbound) { <-late; in.Reply(append(AppendRef(in.Buf(), 0), "late"...)) }
	server.serve["echo"] = echo
	p := newPair(t, "tcp", newNode(), server)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := call(ctx, p.client, "slow", nil); err != context.DeadlineExceeded {
		t.Fatalf("got %v", err)
	}
	for i := range 5000 { // more than there are generations of an id
		if i == 2500 {
			close(late)
		}
		if got, err := call(t.Context(), p.client, "echo", []byte{byte(i)}); err != nil || got[0] != byte(i) {
			t.Fatalf("call %d got %q, %v", i, got, err)
		}
	}
	for p.client.InFlight() > 0 { // until the late reply has come
		runtime.Gosched()
	}
	if strays := p.client.Stats().Strays; strays != 1 {
		t.Fatalf("%d strays", strays)
	}
}

func TestATimeoutEndsTheCallAndTheServersContext(t *testing.T) {
	ended, hold := make(chan error, 2), make(chan struct{})
	server := newNode()
	server.serve["hang"] = func(in *Inbound) {
		ctx := in.Context()
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > 20*time.Millisecond {
			t.Errorf("the server sees a deadline in %v, %v", time.Until(deadline), ok)
		}
		<-ctx.Done()
		ended <- ctx.Err()
		<-hold // both see the same deadline, and the answer must not be first
		in.Reply(AppendRef(in.Buf(), 0))
	}
	p := newPair(t, "tcp", newNode(), server)
	defer close(hold)
	long := make(chan error, 1)
	go func() { // a later deadline that is set first
		_, err := call(context.Background(), p.client, "echo", nil, func(c *Call) { c.Timeout = time.Hour })
		long <- err
	}()
	if _, err := call(context.Background(), p.client, "hang", nil, func(c *Call) { c.Timeout = 20 * time.Millisecond }); err != context.DeadlineExceeded {
		t.Fatalf("the caller got %v", err)
	}
	if err := <-ended; err != context.DeadlineExceeded {
		t.Fatalf("the server's context ended with %v", err)
	}
	<-long
}

func TestAContextDerivedFromTheRequestsNeedsNoGoroutine(t *testing.T) {
	before := make(chan int, 1)
	server := newNode()
	server.serve["see"] = func(in *Inbound) {
		start := runtime.NumGoroutine()
		for range 100 {
			_, cancel := context.WithCancel(in.Context())
			defer cancel()
		}
		before <- runtime.NumGoroutine() - start
		in.Reply(AppendRef(in.Buf(), 0))
	}
	p := newPair(t, "tcp", newNode(), server)
	if _, err := call(t.Context(), p.client, "see", nil, func(c *Call) { c.Timeout = time.Minute }); err != nil {
		t.Fatal(err)
	}
	if more := <-before; more > 50 {
		t.Fatalf("%d more goroutines", more)
	}
}

// TestAnswersAreWrittenWhileAllHandlersBlock breaks where an answer is left in the outgoing buffer with no goroutine to write
// it.
func TestAnswersAreWrittenWhileAllHandlersBlock(t *testing.T) {
	server := newNode()
	hold := make(chan struct{})
	server.serve["quick"] = echo
	server.serve["hold"] = func(in *Inbound) { <-hold; in.Reply(AppendRef(in.Buf(), 0)) }
	p := newPair(t, "tcp", newNode(), server)
	var held, quick sync.WaitGroup
	for range 200 {
		held.Go(func() {
			if _, err := call(context.Background(), p.client, "hold", nil); err != nil {
				t.Error(err)
			}
		})
		quick.Go(func() {
			for range 20 {
				if _, err := call(context.Background(), p.client, "quick", []byte("x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	quick.Wait() // hangs where the invariant is broken
	close(hold)
	held.Wait()
}

func TestAReplyIsWrittenThoughItsHandlerGoesOn(t *testing.T) {
	server := newNode()
	hold := make(chan struct{})
	server.serve["both"] = func(in *Inbound) { in.Reply(AppendRef(in.Buf(), 0)); <-hold }
	p := newPair(t, "tcp", newNode(), server)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := call(context.Background(), p.client, "both", nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(hold)
}

func TestHandlersThatDoNotBlockShareAFewGoroutines(t *testing.T) {
	server := newNode()
	server.serve["echo"] = echo
	p := newPair(t, "tcp", newNode(), server)
	start := runtime.NumGoroutine()
	var all sync.WaitGroup
	most := make(chan int, 1)
	for range 100 {
		all.Go(func() {
			for range 50 {
				call(context.Background(), p.client, "echo", []byte("x"))
			}
		})
	}
	all.Go(func() { most <- runtime.NumGoroutine() })
	all.Wait()
	if more := <-most - start; more > 160 { // the 100 callers, and some
		t.Fatalf("%d goroutines for 100 callers", more)
	}
}

func TestATargetThatDoesNotAnswerFailsTheCall(t *testing.T) {
	server := newNode()
	server.serve["silent"] = func(*Inbound) {}
	p := newPair(t, "tcp", newNode(), server)
	_, err := call(t.Context(), p.client, "silent", nil)
	if f, ok := errors.AsType[*Failure](err); !ok || f.Name != NameNotAnswered {
		t.Fatalf("got %v", err)
	}
}

func TestATargetThatEndsItsGoroutineFailsTheCallAndNoOther(t *testing.T) {
	server := newNode()
	server.serve["exit"] = func(*Inbound) { runtime.Goexit() }
	server.serve["echo"] = echo
	p := newPair(t, "tcp", newNode(), server)
	for range 3 {
		_, err := call(t.Context(), p.client, "exit", nil)
		if f, ok := errors.AsType[*Failure](err); !ok || f.Name != NameNotAnswered {
			t.Fatalf("got %v", err)
		}
		if _, err := call(t.Context(), p.client, "echo", nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMoreCallsThanThePeerAcceptsWaitTheirTurn(t *testing.T) {
	var now, most atomic.Int32
	var meet sync.WaitGroup // of the first two
	meet.Add(2)
	var came atomic.Int32
	server := newNode()
	server.serve["work"] = func(in *Inbound) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if came.Add(1) <= 2 {
			meet.Done()
			meet.Wait() // which hangs where they are served one after the other
		}
		runtime.Gosched()
		now.Add(-1)
		in.Reply(AppendRef(in.Buf(), 0))
	}
	p := newPair(t, "tcp", newNode(), server, func(_, server *Config) { server.Limits.Calls = 4 })
	var all sync.WaitGroup
	for range 8 { // four in flight, four waiting: none refused
		all.Go(func() {
			for range 50 {
				if _, err := call(context.Background(), p.client, "work", nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if m := most.Load(); m > 4 {
		t.Fatalf("%d at once", m)
	}
}

func TestCallsThatFindTooManyWaitingFailAtOnce(t *testing.T) {
	hold := make(chan struct{})
	server := newNode()
	server.serve["hold"] = func(in *Inbound) { <-hold; in.Reply(AppendRef(in.Buf(), 0)) }
	p := newPair(t, "tcp", newNode(), server, func(_, server *Config) { server.Limits.Calls = 1 })
	results := make(chan error)
	for range 3 {
		go func() { _, err := call(context.Background(), p.client, "hold", nil); results <- err }()
	}
	if f, ok := errors.AsType[*Failure](<-results); !ok || f.Code != codeResourceExhausted || !f.Retryable {
		t.Fatalf("got %v", f)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := call(ctx, p.client, "hold", nil); err == nil {
		t.Fatal("a call with a context that has ended was made")
	}
	close(hold)
	for range 2 {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
}

func TestACallThatWaitsForItsTurnEndsWithItsContext(t *testing.T) {
	hold := make(chan struct{})
	server := newNode()
	server.serve["hold"] = func(in *Inbound) { <-hold; in.Reply(AppendRef(in.Buf(), 0)) }
	p := newPair(t, "tcp", newNode(), server, func(_, server *Config) { server.Limits.Calls = 1 })
	first := make(chan error)
	go func() { _, err := call(context.Background(), p.client, "hold", nil); first <- err }()
	for p.client.InFlight() == 0 {
		runtime.Gosched()
	}
	if _, err := call(context.Background(), p.client, "hold", nil, func(c *Call) { c.Timeout = time.Millisecond }); err != context.DeadlineExceeded {
		t.Fatalf("got %v", err)
	}
	close(hold)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
}

func TestTheNodesBudgetRefusesCallsAtOnce(t *testing.T) {
	budget := NewBudget(1)
	hold := make(chan struct{})
	serving := make(chan struct{}, 1)
	server := newNode()
	server.serve["hold"] = func(in *Inbound) { serving <- struct{}{}; <-hold; in.Reply(AppendRef(in.Buf(), 0)) }
	p := newPair(t, "tcp", newNode(), server, func(_, server *Config) { server.Limits.InFlight = budget })
	first := make(chan error)
	go func() { _, err := call(context.Background(), p.client, "hold", nil); first <- err }()
	<-serving
	_, err := call(t.Context(), p.client, "hold", nil)
	if f, ok := errors.AsType[*Failure](err); !ok || f.Name != NameTooManyCalls || !f.Retryable {
		t.Fatalf("got %v", err)
	}
	close(hold)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	for budget.InUse() != 0 { // given back just after the answer was sent
		runtime.Gosched()
	}
}

func TestAValueLargerThanThePeerAcceptsIsNotSent(t *testing.T) {
	server := newNode()
	server.serve["echo"] = echo
	p := newPair(t, "tcp", newNode(), server, func(client, server *Config) { server.Limits.Message = 100_000; client.Limits.Message = 50_000 })
	_, err := call(t.Context(), p.client, "echo", make([]byte, 100_000))
	if f, ok := errors.AsType[*Failure](err); !ok || f.Name != NameMessageTooLarge {
		t.Fatalf("a large request: %v", err)
	}
	_, err = call(t.Context(), p.client, "echo", make([]byte, 60_000))
	if f, ok := errors.AsType[*Failure](err); !ok || f.Name != NameMessageTooLarge {
		t.Fatalf("a large reply: %v", err)
	}
	if _, err = call(t.Context(), p.client, "echo", make([]byte, 40_000)); err != nil {
		t.Fatal(err)
	}
}

func TestSmallCallsGoBetweenTheChunksOfALargeOne(t *testing.T) {
	server := newNode()
	server.serve["echo"] = echo
	p := newPair(t, "tcp", newNode(), server)
	var large sync.WaitGroup
	done := make(chan struct{})
	large.Go(func() {
		defer close(done)
		if _, err := call(context.Background(), p.client, "echo", make([]byte, 60<<20)); err != nil {
			t.Error(err)
		}
	})
	small := 0
	for {
		select {
		case <-done:
			if small < 5 {
				t.Fatalf("%d small calls while a large one was under way", small)
			}
			return
		default:
		}
		if _, err := call(context.Background(), p.client, "echo", []byte("small")); err != nil {
			t.Fatal(err)
		}
		small++
	}
}

func TestALargeCallThatIsCancelledHalfWayIsForgotten(t *testing.T) {
	for _, network := range []string{"tcp", "mem"} {
		server := newNode()
		server.serve["echo"] = echo
		p := newPair(t, network, newNode(), server)
		for i := range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*300*time.Microsecond)
			_, err := call(ctx, p.client, "echo", make([]byte, 8<<20))
			if err != nil && err != context.DeadlineExceeded {
				t.Fatal(err)
			}
			cancel()
		}
		if _, err := call(t.Context(), p.client, "echo", []byte("after")); err != nil {
			t.Fatal(err)
		}
		for p.client.InFlight() > 0 || p.server.inbound.serving.Load() > 0 { // answers that come late
			runtime.Gosched()
		}
	}
}

// gated is a connection of which each write waits for a value from a channel, or its end.
type gated struct {
	net.Conn
	gate chan struct{}
}

func (g *gated) Write(p []byte) (int, error) {
	<-g.gate
	return g.Conn.Write(p)
}

func TestALargeCallWhoseTimeIsOverBeforeItIsSentIsForgotten(t *testing.T) {
	for written, writes := range map[string]int{"nothing": 0, "what comes before it": 1, "a part of it": 2} {
		t.Run(written, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				a, b := conns(t, "mem")
				g := &gated{a, make(chan struct{})}
				cc, sc := Config{Node: "client"}, Config{Node: "server"}
				serving := newNode()
				serving.serve["echo"] = echo
				client, server := New(g, peerOfTest(sc, true), cc, newNode()), New(b, peerOfTest(cc, false), sc, serving)
				client.TryPost(1, nil)
				bubbletest.Wait() // the post is being written, and what follows waits
				failed := make(chan error)
				go func() {
					_, err := call(context.Background(), client, "echo", make([]byte, 1<<20), func(c *Call) { c.Timeout = time.Second })
					failed <- err
				}()
				for range writes {
					g.gate <- struct{}{}
				}
				if err := <-failed; err != context.DeadlineExceeded {
					t.Error(err)
				}
				close(g.gate)
				if _, err := call(context.Background(), client, "echo", []byte("after")); err != nil {
					t.Errorf("the next call: %v", err)
				}
				bubbletest.Wait()
				if mine, theirs := client.InFlight(), server.inbound.serving.Load(); mine > 0 || theirs > 0 {
					t.Errorf("%d calls are in flight, %d served", mine, theirs)
				}
				client.Close(nil)
				<-client.finished
				<-server.finished
			})
		})
	}
}

func TestCompressedValuesArriveAsTheyWere(t *testing.T) {
	for _, way := range []Compression{S2, Zstd} {
		server := newNode()
		server.serve["echo"], server.inline = echo, true
		server.streams["echo"] = func(s *Stream) {
			value, _, err := s.Recv()
			if err == nil {
				err = s.Send(s.Context(), append(AppendRef(nil, 0), value...))
			}
			if err != nil {
				t.Error(err)
			}
		}
		client := Config{Node: "client", Compression: way}
		a, b := conns(t, "tcp")
		peerOf := func(c Config) Peer { p := peerOfTest(c, false); p.Compression = way; return p }
		l := New(a, peerOf(Config{Node: "server"}), client, newNode())
		r := New(b, peerOf(client), Config{Node: "server", Compression: way}, server)
		for _, size := range []int{100, 10_000, 3 << 20} {
			want := []byte{}
			for i := 0; len(want) < size; i++ {
				want = fmt.Appendf(want, "order %d of customer %d; ", i, i*i)
			}
			got, err := call(t.Context(), l, "echo", want)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s, %d bytes: got %d, %v", way, len(want), len(got), err)
			}
			s, err := l.Open(t.Context(), l.Declare(StreamRoute, "echo", "bytes"), Meta{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Send(t.Context(), append(AppendRef(nil, 0), want...)); err != nil && err != io.EOF { // it may find the stream at its end already
				t.Fatal(err)
			}
			if got, _, err := s.Recv(); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s, stream, %d bytes: got %d, %v", way, len(want), len(got), err)
			}
			if _, _, err := s.Recv(); err != io.EOF {
				t.Fatal(err)
			}
		}
		if out := l.Stats().BytesOut; out > 5<<20 {
			t.Errorf("%s: %d bytes were sent", way, out)
		}
		l.Close(nil)
		<-l.finished
		<-r.finished
	}
}

func TestCallsAllocateNothingOnEitherSide(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector makes sync.Pool drop some of what it is given")
	}
	for _, inline := range []bool{true, false} {
		server := newNode()
		server.serve["echo"], server.inline = echo, inline
		p := newPair(t, "tcp", newNode(), server)
		route := p.client.Declare(CallRoute, "echo", "bytes")
		value := make([]byte, requestSize)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		allocs := testing.AllocsPerRun(5000, func() {
			c := p.client.Call(route)
			c.Timeout = time.Minute
			if err := c.Do(ctx, append(AppendRef(c.Buf(), 0), value...)); err != nil {
				t.Fatal(err)
			}
			c.Free()
		})
		if allocs > 0 {
			t.Errorf("inline %v: %v allocations per call", inline, allocs)
		}
	}
}
