package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

// opening is a node that posts when a link is reported, and notes the order of the reports.
type opening struct {
	*node
	received chan string
}

func (o opening) Opened(l *Link) {
	o.received <- "opened"
	l.TryPost(1, nil)
}
func (o opening) Post(*Link, uint8, []byte) { o.received <- "post" }
func (o opening) Closed(l *Link, _ error)   { o.received <- "closed" }
func (o opening) expect(t *testing.T, what string) {
	t.Helper()
	if got := <-o.received; got != what {
		t.Errorf("%s, not %s", got, what)
	}
}

func TestOpenedComesBeforeEverythingElseOfALink(t *testing.T) {
	for _, network := range []string{"tcp", "mem"} {
		for range 20 {
			a, b := conns(t, network)
			one, two := opening{newNode(), make(chan string, 3)}, opening{newNode(), make(chan string, 3)}
			first := New(a, peerOfTest(Config{Node: "two"}, true), Config{Node: "one"}, one)
			second := New(b, peerOfTest(Config{Node: "one"}, false), Config{Node: "two"}, two)
			for _, what := range []string{"opened", "post"} {
				one.expect(t, what)
				two.expect(t, what)
			}
			first.Close(nil)
			one.expect(t, "closed")
			two.expect(t, "closed")
			<-first.finished
			<-second.finished
		}
	}
}

func TestPostsOfAllSizesArriveInTheOrderInWhichTheyWerePosted(t *testing.T) {
	for _, network := range []string{"tcp", "mem"} {
		const posts = 200
		arrived := make(chan uint64, posts)
		server := newNode()
		server.post = func(_ *Link, _ uint8, data []byte) { arrived <- binary.LittleEndian.Uint64(data) }
		p := newPair(t, network, newNode(), server)
		sizes := []int{8, 2 << 10, chunkSize - 1, chunkSize, chunkSize + 1, 300_000}
		for i := range posts {
			data := make([]byte, sizes[i%len(sizes)])
			binary.LittleEndian.PutUint64(data, uint64(i))
			if i%2 == 0 && len(data) < chunkSize && p.client.TryPost(1, data) {
				continue
			}
			if err := p.client.Post(t.Context(), 1, data); err != nil {
				t.Fatal(err)
			}
		}
		for i := range posts {
			if got := <-arrived; got != uint64(i) {
				t.Fatalf("over %s post %d arrived as number %d", network, got, i)
			}
		}
	}
}

func TestPostsGoOnAfterGoAwayOfEitherSide(t *testing.T) {
	client, server := newNode(), newNode()
	got := make(chan string, 2)
	server.post = func(_ *Link, _ uint8, data []byte) { got <- "server " + strconv.Itoa(len(data)) }
	client.post = func(_ *Link, _ uint8, data []byte) { got <- "client " + strconv.Itoa(len(data)) }
	p := newPair(t, "tcp", client, server)
	if err := p.server.Retire(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-client.goAway
	p.client.GoAway()
	<-server.goAway
	for _, size := range []int{3, 200_000} {
		for from, to := range map[*Link]string{p.client: "server", p.server: "client"} {
			if err := from.Post(t.Context(), 1, make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			if want := to + " " + strconv.Itoa(size); <-got != want {
				t.Errorf("not %s", want)
			}
		}
	}
	if !p.client.TryPost(1, nil) || <-got != "server 0" {
		t.Error("TryPost")
	}
}

func TestDrainWaitsForPostsAndThenRefusesThem(t *testing.T) {
	const posts = 100
	var arrived []string
	server := newNode()
	server.post = func(_ *Link, _ uint8, data []byte) { arrived = append(arrived, strconv.Itoa(len(data))) }
	client := newNode()
	p := newPair(t, "tcp", client, server)
	for range posts {
		if err := p.client.Post(t.Context(), 1, make([]byte, 30_000)); err != nil {
			t.Fatal(err)
		}
	}
	large := make(chan error)
	posted := make(chan struct{})
	go func() {
		close(posted)
		large <- p.client.Post(context.Background(), 1, bytes.Repeat([]byte("x"), 20<<20))
	}()
	<-posted
	if err := p.client.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	whole := 0
	if err := <-large; err == nil {
		whole = 1
	} else if !errors.Is(err, ErrClosed) { // it came after Drain had nothing left to do
		t.Error(err)
	}
	if err := <-server.closed; err != ErrClosed {
		t.Errorf("the server's link ended with %v", err)
	}
	if len(arrived) != posts+whole {
		t.Errorf("%d of %d posts arrived", len(arrived), posts+whole)
	}
	if err := p.client.Post(t.Context(), 1, nil); !errors.Is(err, ErrClosed) || p.client.TryPost(1, nil) {
		t.Errorf("a post after Drain: %v", err)
	}
}

func closing(l *Link) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaving.closing
}

// The other side keeps its half of the connection open: nothing may be written into the half that is closed already, which
// would look like a lost link.
func TestPostsWhileDrainClosesAreRefusedAndDoNoHarm(t *testing.T) {
	client, server := newNode(), newNode()
	hold := make(chan struct{})
	server.post = func(*Link, uint8, []byte) { <-hold }
	p := newPair(t, "mem", client, server)
	if err := p.client.Post(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	// The answer that Drain waits for comes from a reader that then waits in the handler of a second post.
	drained := make(chan error)
	p.client.GoAway()
	hold <- struct{}{}
	<-server.goAway
	if err := p.client.Post(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	go func() { drained <- p.client.Drain(t.Context()) }()
	for !closing(p.client) {
		runtime.Gosched()
	}
	refused := p.client.Post(t.Context(), 1, nil)
	if lost, ok := errors.AsType[*LostError](refused); !ok || lost.Sent || lost.Err != ErrClosed {
		t.Errorf("a post was refused with %v", refused)
	}
	if p.client.TryPost(1, nil) {
		t.Error("TryPost posted on a link that closes")
	}
	close(hold)
	if err := <-drained; err != nil {
		t.Errorf("Drain: %v", err)
	}
	if err := <-client.closed; err != ErrClosed {
		t.Errorf("the link ended with %v", err)
	}
}

func TestPostWaitsForSpaceAsLongAsItsContextAndTheLinkAllow(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		l := New(&quiet{closed: make(chan struct{}), stuck: true}, peerOfTest(Config{Node: "stopped"}, true), Config{Node: "here"}, newNode())
		data := make([]byte, 60_000)
		l.TryPost(1, data)
		bubbletest.Wait() // until the writer is stuck with it
		taken := 0
		for l.TryPost(1, data) {
			taken++
		}
		if taken*len(data) < highWater || taken*len(data) > highWater+len(data) {
			t.Errorf("%d posts of %d bytes were taken", taken, len(data))
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Post(ctx, 1, data); err != context.DeadlineExceeded || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		why := errors.New("enough")
		var waits sync.WaitGroup
		waits.Go(func() {
			if err := l.Post(context.Background(), 1, data); !errors.Is(err, why) {
				t.Errorf("a post that waits when the link ends: %v", err)
			}
		})
		bubbletest.Wait()
		l.Close(why)
		waits.Wait()
		<-l.finished
	})
}

func TestPostsThatWaitForSpaceGoOnWhenThePeerReadsAgain(t *testing.T) {
	const posts = 400
	hold := make(chan struct{})
	arrived := make(chan int, posts)
	server := newNode()
	server.post = func(_ *Link, _ uint8, data []byte) { <-hold; arrived <- len(data) }
	p := newPair(t, "mem", newNode(), server)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range posts / 4 {
				if err := p.client.Post(context.Background(), 1, make([]byte, 50_000)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if err := p.server.Post(t.Context(), 1, nil); err != nil { // the other direction is not held up
		t.Error(err)
	}
	p.server.GoAway()
	close(hold)
	all.Wait()
	for range posts {
		<-arrived
	}
}
