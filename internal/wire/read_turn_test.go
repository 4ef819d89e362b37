package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

// callersRead has both ends of a pair poll, and the callers of both read.
func callersRead(client, server *Config) { client.CallersRead, server.CallersRead = true, true }

// alone is a pair whose client has made calls until callers read.
func alone(t *testing.T, network string, client, server *node) pair {
	t.Helper()
	server.serve["echo"] = echo
	return untilCallersRead(t, newPair(t, network, client, server, callersRead))
}

func untilCallersRead(t *testing.T, p pair) pair {
	t.Helper()
	for i := 0; p.client.readByCallers() == 0; i++ {
		if i == 10_000 {
			t.Fatal("no caller has read")
		}
		echoes(t, p.client, i)
	}
	return p
}

// readByCallers is how often callers have read.
func (l *Link) readByCallers() uint64 {
	l.turn.mu.Lock()
	defer l.turn.mu.Unlock()
	return l.turn.taken
}

func echoes(t *testing.T, l *Link, i int) {
	t.Helper()
	want := fmt.Append(nil, i)
	if got, err := call(t.Context(), l, "echo", want); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestACallerThatIsAloneReadsItsAnswers(t *testing.T) {
	for name, open := range map[string]func(server *node) pair{
		"TCP":         func(server *node) pair { return newPair(t, "tcp", newNode(), server, callersRead) },
		"Unix socket": func(server *node) pair { return newPair(t, "unix", newNode(), server, callersRead) },
		"sealed":      func(server *node) pair { return newSealedPair(t, "tcp", newNode(), server, testKey, callersRead) },
	} {
		t.Run(name, func(t *testing.T) {
			server := newNode()
			server.serve["echo"] = echo
			p := untilCallersRead(t, open(server))
			for i := range 1000 {
				echoes(t, p.client, i)
			}
			if got := p.client.readByCallers(); got < 100 {
				t.Errorf("callers have read %d times", got)
			}
		})
	}
}

func TestWhereItIsNotAskedForNoCallerReads(t *testing.T) {
	server := newNode()
	server.serve["echo"] = echo
	p := newPair(t, "tcp", newNode(), server)
	for i := range 1000 {
		echoes(t, p.client, i)
	}
	if got := p.client.readByCallers(); got > 0 {
		t.Errorf("callers have read %d times", got)
	}
}

// blocks is an action that answers when the request's context ends, or the test.
func blocks(t *testing.T) func(*Inbound) {
	return func(in *Inbound) {
		select {
		case <-in.Context().Done():
		case <-t.Context().Done():
		}
		in.Fail(&Failure{Code: codeInternal})
	}
}

func TestACallerThatReadsEndsWithItsContext(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		server := newNode()
		server.serve["block"] = blocks(t)
		p := alone(t, "mem", newNode(), server)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		before, begun := p.client.readByCallers(), time.Now()
		if _, err := call(ctx, p.client, "block", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if p.client.readByCallers() == before {
			t.Error("the caller has not read")
		}
		if late := time.Since(begun) - time.Second; late > 2*turnInterval {
			t.Errorf("%v late", late)
		}
		echoes(t, p.client, 1)
	})
}

func TestACallerThatReadsEndsWithItsTimeout(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		server := newNode()
		over := make(chan struct{})
		defer close(over)
		server.serve["block"] = func(in *Inbound) { <-over }
		p := alone(t, "mem", newNode(), server)
		begun := time.Now()
		if _, err := call(t.Context(), p.client, "block", nil, func(c *Call) { c.Timeout = time.Second }); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if late := time.Since(begun) - time.Second; late > 2*turnInterval {
			t.Errorf("%v late", late)
		}
		echoes(t, p.client, 1)
	})
}

func TestWhatThePeerSendsByItselfArrivesWhereCallersRead(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		posts, client := make(chan time.Time, 1), newNode()
		client.post = func(*Link, uint8, []byte) { posts <- time.Now() }
		p := alone(t, "mem", client, newNode())
		begun := time.Now()
		if err := p.server.Post(t.Context(), 1, []byte("news")); err != nil {
			t.Fatal(err)
		}
		if late := (<-posts).Sub(begun); late > 2*turnInterval {
			t.Errorf("%v late", late)
		}
	})
}

func TestAFrameBesideTheAnswerOfACallerThatReadsIsNotHandledByIt(t *testing.T) {
	client, server := newNode(), newNode()
	posts := make(chan string)
	client.post = func(_ *Link, _ uint8, data []byte) { posts <- string(data) } // whoever handles it waits until the caller is back
	server.serve["post"] = func(in *Inbound) {
		if err := in.Link().Post(t.Context(), 1, []byte("news")); err != nil {
			t.Error(err)
		}
		in.Reply(AppendRef(in.Buf(), 0))
	}
	p := alone(t, "tcp", client, server)
	for range 100 {
		answered := make(chan error, 1)
		go func() {
			_, err := call(t.Context(), p.client, "post", nil)
			answered <- err
		}()
		if got := <-posts; got != "news" {
			t.Fatal(got)
		}
		if err := <-answered; err != nil {
			t.Fatal(err)
		}
		for i := range 2 * aloneFor {
			echoes(t, p.client, i)
		}
	}
}

func TestALinkThatIsLostEndsACallerThatReads(t *testing.T) {
	server := newNode()
	serving := make(chan struct{})
	server.serve["block"] = func(in *Inbound) {
		close(serving)
		blocks(t)(in)
	}
	p := alone(t, "tcp", newNode(), server)
	go func() {
		<-serving
		p.server.Close(errors.New("gone"))
	}()
	var lost *LostError
	if _, err := call(t.Context(), p.client, "block", nil); !errors.As(err, &lost) {
		t.Error(err)
	}
}

func TestManyCallersOfALinkWhereCallersReadGetTheirAnswers(t *testing.T) {
	p := alone(t, "tcp", newNode(), newNode())
	for round := range rounds(60) {
		var callers sync.WaitGroup
		for c := range 1 + round%4 {
			callers.Go(func() {
				for i := range 50 {
					ctx, cancel := context.WithCancel(t.Context())
					want := fmt.Append(nil, c, i)
					if i%10 == 9 {
						cancel()
					}
					if got, err := call(ctx, p.client, "echo", want); ctx.Err() == nil && (err != nil || !bytes.Equal(got, want)) {
						t.Errorf("%q, %v", got, err)
					}
					cancel()
				}
			})
		}
		callers.Wait()
	}
}
