package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// rawPeer is a link whose peer is a test that writes bytes by hand.
type rawPeer struct {
	t    testing.TB
	link *Link
	conn net.Conn
	node *node
}

func newRawPeer(t testing.TB, n *node, change ...func(*Config)) *rawPeer {
	t.Helper()
	a, b := conns(t, "tcp")
	c := Config{Node: "here"}
	for _, f := range change {
		f(&c)
	}
	p := &rawPeer{t: t, conn: b, node: n, link: New(a, peerOfTest(Config{Node: "raw"}, false), c, n)}
	t.Cleanup(func() {
		b.Close()
		p.link.Close(nil)
		<-p.link.finished
	})
	return p
}

func (p *rawPeer) write(frames ...[]byte) {
	for _, f := range frames {
		if _, err := p.conn.Write(f); err != nil {
			return // the link may have ended already
		}
	}
}

// read reads the next frame that is not a ping.
func (p *rawPeer) read() (header, []byte) {
	p.t.Helper()
	p.conn.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		head := make([]byte, headerSize)
		if _, err := io.ReadFull(p.conn, head); err != nil {
			p.t.Fatal(err)
		}
		h, err := parseHeader(head)
		if err != nil {
			p.t.Fatal(err)
		}
		body := make([]byte, h.length)
		if _, err := io.ReadFull(p.conn, body); err != nil {
			p.t.Fatal(err)
		}
		if h.kind != kindPing {
			return h, body
		}
	}
}

// ended waits for the end of the link, whose reason must be a ProtocolError.
func (p *rawPeer) ended() {
	p.t.Helper()
	select {
	case err := <-p.node.closed:
		if _, ok := errors.AsType[*ProtocolError](err); !ok {
			p.t.Fatalf("the link ended with %v", err)
		}
	case <-time.After(time.Minute):
		p.t.Fatal("the link stands")
	}
}

func frame(id uint32, k kind, flags uint8, body ...byte) []byte {
	return appendFrame(nil, id, k, flags, body)
}

// routeFrame declares route 1 of a kind.
func routeFrame(k RouteKind, name string) []byte {
	return frame(0, kindRoute, 0, append(appendString([]byte{1, byte(k)}, name), 0)...)
}

func TestFramesAgainstTheProtocolEndTheLink(t *testing.T) {
	big := binary.LittleEndian.AppendUint32(nil, 0xffffffff)
	call, stream := routeFrame(CallRoute, "echo"), routeFrame(StreamRoute, "sink")
	for _, c := range []struct {
		name   string
		frames [][]byte
	}{
		{"a frame of 4 GiB", [][]byte{append(big, make([]byte, 6)...)}},
		{"a frame of one byte too many", [][]byte{appendHeader(nil, maxFrame+1, 0, kindPost, 0)}},
		{"an unknown kind", [][]byte{frame(0, 99, 0)}},
		{"kind 0", [][]byte{make([]byte, headerSize)}},
		{"a route that leaves a gap", [][]byte{call, frame(0, kindRoute, 0, 3, 1, 0, 0)}},
		{"a route with the number 0", [][]byte{frame(0, kindRoute, 0, 0, 1, 0, 0)}},
		{"a name with the number 0", [][]byte{frame(0, kindName, 0, 0, 1, 'x')}},
		{"a request along a route whose number was given to a stream", [][]byte{call, stream, frame(1, kindRequest, 0, 1, 0)}},
		{"an open along a route whose number was given to calls", [][]byte{stream, call, frame(1, kindOpen, 0, 1)}},
		{"an event without its name", [][]byte{routeFrame(EventRoute, "echo"), frame(1, kindRequest, 0, 1)}},
		{"an event whose name was not declared", [][]byte{routeFrame(EventRoute, "echo"), frame(1, kindRequest, 0, 1, 5, 0)}},
		{"an event without the groups that it promises", [][]byte{routeFrame(EventRoute, "echo"), frame(1, kindRequest, flagGroups, 1, 0, 1, 'e', 3, 0)}},
		{"an event with a group that was not declared", [][]byte{routeFrame(EventRoute, "echo"), frame(1, kindRequest, flagGroups, 1, 0, 1, 'e', 1, 5, 0)}},
		{"an event with too many groups", [][]byte{routeFrame(EventRoute, "echo"), frame(1, kindRequest, flagGroups, append([]byte{1, 0, 1, 'e', 0x81, 2}, make([]byte, 1000)...)...)}},
		{"a route out of turn", [][]byte{frame(0, kindRoute, 0, 2, 1, 0, 0)}},
		{"a route of no kind", [][]byte{frame(0, kindRoute, 0, 1, 9, 0, 0)}},
		{"a route cut short", [][]byte{frame(0, kindRoute, 0, 1, 1, 5)}},
		{"a request along a route that was not declared", [][]byte{frame(1, kindRequest, 0, 1, 0)}},
		{"a request along the route of a stream", [][]byte{stream, frame(1, kindRequest, 0, 1, 0)}},
		{"a request without a value", [][]byte{call, frame(1, kindRequest, 0, 1)}},
		{"a request with a schema that was not declared", [][]byte{call, frame(1, kindRequest, 0, 1, 1)}},
		{"a request with flags that promise more than there is", [][]byte{call, frame(1, kindRequest, flagTimeout|flagNested|flagMetadata, 1)}},
		{"a request with a number without end", [][]byte{call, frame(1, kindRequest, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)}},
		{"metadata with a name that was not declared", [][]byte{call, frame(1, kindRequest, flagMetadata, 1, 1, 7, 0, 0)}},
		{"a name out of turn", [][]byte{frame(0, kindName, 0, 3, 1, 'x')}},
		{"a schema that is none", [][]byte{frame(0, kindSchema, 0, 1, 0xff, 0xff)}},
		{"a reply to a call never made", [][]byte{frame(1<<indexBits|500, kindReply, 0, 0)}},
		{"a reply with pairs that are not there", [][]byte{frame(1<<indexBits, kindReply, flagMetadata, 3, 1, 'n')}},
		{"an error with more pairs than it has bytes", [][]byte{frame(1<<indexBits, kindError, flagMetadata, 0xff, 0x7f, 0)}},
		{"a reply with too many bytes of pairs", [][]byte{frame(1<<indexBits, kindReply, flagMetadata, append(appendPairs(nil, []Pair{{"n", strings.Repeat("v", MaxPairs)}}), 0)...)}},
		{"a value longer than it said", [][]byte{call, frame(1<<indexBits, kindRequest, flagMore, 1, 3, 0), frame(1<<indexBits, kindChunk, 0, 1, 2, 3, 4)}},
		{"a value shorter than it said", [][]byte{call, frame(1<<indexBits, kindRequest, flagMore, 1, 9, 0), frame(1<<indexBits, kindChunk, 0, 1)}},
		{"the same long request twice", [][]byte{call, frame(1<<indexBits, kindRequest, flagMore, 1, 9, 0), frame(1<<indexBits, kindRequest, flagMore, 1, 9, 0)}},
		{"a long request without its length", [][]byte{call, frame(1<<indexBits, kindRequest, flagMore, 1)}},
		{"a long request with more in its first frame", [][]byte{call, frame(1<<indexBits, kindRequest, flagMore, 1, 1, 0, 0)}},
		{"a long request with a schema that was not declared", [][]byte{call, frame(1<<indexBits, kindRequest, flagMore, 1, 2, 7), frame(1<<indexBits, kindChunk, 0, 1)}},
		{"a credit that cannot be read", [][]byte{frame(1, kindCredit, 0)}},
		{"an error that cannot be read", [][]byte{stream, frame(1<<indexBits, kindOpen, 0, 1), frame(1<<indexBits, kindEnd, flagFailed, 1)}},
		{"a stream ended for good by its opener", [][]byte{stream, frame(1<<indexBits, kindOpen, 0, 1), frame(1<<indexBits, kindEnd, 0)}},
		{"a ping cut short", [][]byte{frame(0, kindPing, 0, 1)}},
		{"a post without a topic", [][]byte{frame(0, kindPost, 0)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode()
			n.serve["echo"] = echo
			n.streams["sink"] = func(s *Stream) { <-s.Context().Done() }
			budget := NewBudget(10)
			p := newRawPeer(t, n, func(c *Config) { c.Limits.InFlight = budget })
			p.write(c.frames...)
			p.ended()
			if used := budget.InUse(); used != 0 { // other links would lack them for ever
				t.Errorf("%d places are still in use", used)
			}
		})
	}
}

// A sender that is stopped within a long message may have queued parts of it, which go out after the cancel. Such a part was read as the first one of a
// message, and the link ended with all its calls.
func TestPartsThatComeAfterACancelAreIgnored(t *testing.T) {
	n := newNode()
	release := make(chan struct{})
	n.streams["sink"] = func(*Stream) { <-release }
	p := newRawPeer(t, n)
	id := uint32(1 << indexBits)
	p.write(routeFrame(StreamRoute, "sink"), frame(id, kindOpen, 0, 1), frame(id, kindData, flagMore, 120, 0, 'x'), frame(id, kindCancel, flagOfStream),
		frame(id, kindData, flagMore, []byte(strings.Repeat("x", 121))...), frame(id, kindData, 0, 'x'), frame(0, kindPing, 0, make([]byte, pingSize)...))
	for h, _ := p.read(); h.kind != kindPong; h, _ = p.read() { // it is the answer to what came last
	}
	close(release)
}

func TestGarbageEndsTheLink(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		p := newRawPeer(t, newNode())
		garbage := make([]byte, 100_000)
		for i := range garbage {
			garbage[i] = byte(random.Uint32())
		}
		p.write(garbage)
		p.ended()
	}
}

func TestHalfAFrameAndThenNothingEndsTheLinkWhenThePeerCloses(t *testing.T) {
	for _, part := range [][]byte{{1}, frame(0, kindPost, 0, make([]byte, 1000)...)[:500], appendHeader(nil, chunkSize, 1, kindChunk, flagMore)} {
		n := newNode()
		p := newRawPeer(t, n)
		p.write(part)
		p.conn.Close()
		if err := <-n.closed; err == nil || err == ErrClosed {
			t.Fatalf("ended with %v", err)
		}
	}
}

func TestAHalfRequestGivesItsPlaceBackWhenTheLinkEnds(t *testing.T) {
	budget := NewBudget(10)
	n := newNode()
	n.serve["echo"] = echo
	p := newRawPeer(t, n, func(c *Config) { c.Limits.InFlight = budget })
	p.write(routeFrame(CallRoute, "echo"))
	total := binary.AppendUvarint([]byte{1}, 100<<10)
	for i := range 11 { // as many as there are places, and one that is refused when all the others have been read
		p.write(frame(1<<indexBits|uint32(i), kindRequest, flagMore, append(total, 0)...))
	}
	if h, _ := p.read(); h.kind != kindError || budget.InUse() != 10 {
		t.Fatalf("a frame of kind %d, %d places in use", h.kind, budget.InUse())
	}
	p.conn.Close()
	<-n.closed
	if used := budget.InUse(); used != 0 {
		t.Fatalf("%d places are still in use", used)
	}
}

func TestDuplicateAndStaleAnswersAreIgnored(t *testing.T) {
	p := newRawPeer(t, newNode())
	for range 3 {
		result := make(chan error)
		go func() {
			got, err := call(t.Context(), p.link, "x", []byte("hello"))
			if err == nil && string(got) != "good" {
				err = fmt.Errorf("got %q", got)
			}
			result <- err
		}()
		h, _ := p.read()
		for h.kind != kindRequest {
			h, _ = p.read()
		}
		stale := h.id + 7<<indexBits
		p.write(frame(stale, kindReply, 0, 0, 'b', 'a', 'd'), frame(h.id, kindReply, 0, 0, 'g', 'o', 'o', 'd'),
			frame(h.id, kindReply, 0, 0, 'b', 'a', 'd'), frame(h.id, kindError, 0, appendFailure(nil, &Failure{Code: 1})...),
			frame(h.id, kindReply, flagMore, 5, 0, 'b'), frame(h.id, kindChunk, flagYours, 'b', 'a', 'd'))
		if err := <-result; err != nil {
			t.Fatal(err)
		}
	}
	for p.link.Stats().Strays < 12 {
		runtime.Gosched()
	}
	if err := p.link.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestRequestsWithANumberBeyondTheLimitTakeNoPlace(t *testing.T) {
	n := newNode()
	n.serve["echo"] = echo
	budget := NewBudget(10)
	p := newRawPeer(t, n, func(c *Config) { c.Limits.Calls, c.Limits.InFlight = 10, budget })
	p.write(routeFrame(CallRoute, "echo"))
	for i := range 30 {
		p.write(frame(1<<indexBits|uint32(10+i), kindRequest, 0, 1, 0))
		if h, _ := p.read(); h.kind != kindError {
			t.Fatalf("got kind %d", h.kind)
		}
	}
	if used := budget.InUse(); used != 0 {
		t.Errorf("%d places are in use", used)
	}
	p.write(frame(1<<indexBits, kindRequest, 0, 1, 0))
	if h, _ := p.read(); h.kind != kindReply {
		t.Errorf("got kind %d", h.kind)
	}
}

func TestMoreRequestsThanTheLimitAreRefusedAndTheRestServed(t *testing.T) {
	hold := make(chan struct{})
	n := newNode()
	n.serve["hold"] = func(in *Inbound) { <-hold; in.Reply(AppendRef(in.Buf(), 0)) }
	p := newRawPeer(t, n, func(c *Config) { c.Limits.Calls = 10 })
	p.write(routeFrame(CallRoute, "hold"))
	for i := range 30 {
		p.write(frame(1<<indexBits|uint32(i), kindRequest, 0, 1, 0))
	}
	for range 20 {
		h, body := p.read()
		f, err := parseFailure(body)
		if h.kind != kindError || err != nil || f.Name != NameTooManyCalls || !f.Retryable {
			t.Fatalf("got kind %d, %v, %v", h.kind, f, err)
		}
	}
	close(hold)
	for range 10 {
		if h, _ := p.read(); h.kind != kindReply {
			t.Fatalf("got kind %d", h.kind)
		}
	}
}

func TestTenThousandOpensWithoutCreditAreRefused(t *testing.T) {
	n := newNode()
	n.streams["hang"] = func(s *Stream) { <-s.Context().Done() }
	p := newRawPeer(t, n, func(c *Config) { c.Limits.Streams = 100 })
	p.write(routeFrame(StreamRoute, "hang"))
	go func() {
		for i := range 10_000 {
			p.write(frame(1<<indexBits|uint32(i), kindOpen, 0, 1))
		}
	}()
	for range 9_900 {
		if h, _ := p.read(); h.kind != kindEnd || h.flags != flagFailed|flagYours {
			t.Fatalf("got kind %d with flags %b", h.kind, h.flags)
		}
	}
	if open := p.link.streams.open(); open != 100 {
		t.Fatalf("%d streams are open", open)
	}
}

func TestMessagesWithoutCreditEndTheLink(t *testing.T) {
	n := newNode()
	n.streams["hang"] = func(s *Stream) { <-s.Context().Done() }
	p := newRawPeer(t, n, func(c *Config) { c.Limits.Window = 10_000 })
	p.write(routeFrame(StreamRoute, "hang"), frame(1<<indexBits, kindOpen, 0, 1))
	for range 12 {
		p.write(frame(1<<indexBits, kindData, 0, make([]byte, 1000)...))
	}
	p.ended()
}

func TestMoreCreditThanTheWindowEndsTheLink(t *testing.T) {
	p := newRawPeer(t, newNode())
	s, err := p.link.Open(t.Context(), p.link.Declare(StreamRoute, "x", ""), Meta{})
	if err != nil {
		t.Fatal(err)
	}
	p.write(frame(s.id, kindCredit, flagYours, binary.AppendUvarint(nil, 1<<30)...))
	p.ended()
}

func TestLongValuesThatNeverEndHoldNoMoreThanTheyBring(t *testing.T) {
	n := newNode()
	n.serve["echo"] = echo
	p := newRawPeer(t, n)
	p.write(routeFrame(CallRoute, "echo"))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	total := binary.AppendUvarint([]byte{1}, 60<<20)
	for i := range 1000 { // each announces 60 MiB, and brings one byte
		p.write(frame(1<<indexBits|uint32(i), kindRequest, flagMore, append(total, 0)...))
	}
	refused := 0
	for range 996 { // four at once are as much as it holds
		h, body := p.read()
		if f, err := parseFailure(body); h.kind == kindError && err == nil && f.Retryable {
			refused++
		}
	}
	runtime.ReadMemStats(&after)
	if refused != 996 {
		t.Fatalf("%d were refused", refused)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Fatalf("the heap grew by %d bytes", grown)
	}
}

func TestLongMessagesOfManyStreamsThatNeverEndHoldLittle(t *testing.T) {
	n := newNode()
	n.streams["sink"] = func(s *Stream) { <-s.Context().Done() }
	p := newRawPeer(t, n)
	p.write(routeFrame(StreamRoute, "sink"))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range uint32(DefaultStreams) { // each brings one byte of 60 MiB
		p.write(frame(1<<indexBits|i, kindOpen, 0, 1), frame(1<<indexBits|i, kindData, flagMore, append(binary.AppendUvarint(nil, 60<<20), 0)...))
	}
	p.write(frame(0, kindPing, 0, make([]byte, pingSize)...))
	for h, _ := p.read(); h.kind != kindPong; h, _ = p.read() {
	}
	runtime.ReadMemStats(&after)
	if open := p.link.streams.open(); open != DefaultStreams {
		t.Fatalf("%d streams are open", open)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Fatalf("the heap grew by %d bytes", grown)
	}
}

func TestAPeerThatAsksWithoutReadingIsCutOffAndOthersAreNot(t *testing.T) {
	n := newNode()
	n.inline = true
	n.serve["echo"] = echo
	greedy := newRawPeer(t, n)
	server := newNode()
	server.serve["echo"] = echo
	other := newPair(t, "tcp", newNode(), server)

	var writing sync.WaitGroup
	writing.Go(func() {
		greedy.write(routeFrame(CallRoute, "echo"))
		request := frame(1<<indexBits, kindRequest, 0, append([]byte{1, 0}, make([]byte, 60_000)...)...)
		for greedy.link.Err() == nil {
			for i := range 1000 { // the same ids again and again: more requests than any limit
				binary.LittleEndian.PutUint32(request[4:], 1<<indexBits|uint32(i))
				greedy.conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
				if _, err := greedy.conn.Write(request); err != nil {
					return // it takes no more
				}
			}
		}
	})
	for range 200 {
		if _, err := call(t.Context(), other.client, "echo", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	writing.Wait()
	greedy.link.mu.Lock()
	held := len(greedy.link.pending)
	greedy.link.mu.Unlock()
	if held > hardMark+maxFrame {
		t.Fatalf("%d bytes wait", held)
	}
}

// FuzzFrames gives a link arbitrary bytes. Whatever they are, it neither panics nor hangs, ends when they end, and gives back
// what other links share.
func FuzzFrames(f *testing.F) {
	calls, streams, events := routeFrame(CallRoute, "echo"), routeFrame(StreamRoute, "echo"), routeFrame(EventRoute, "echo")
	join := func(frames ...[]byte) (all []byte) {
		for _, f := range frames {
			all = append(all, f...)
		}
		return all
	}
	f.Add(join(calls, frame(1<<indexBits, kindRequest, 0, 1, 0, 'h', 'i')))
	f.Add(join(calls, frame(1<<indexBits, kindRequest, flagCancellable|flagTimeout|flagNested|flagRequestID|flagMetadata,
		1, 100, 2, 0, 1, 'c', 1, 'r', 1, 0, 1, 'k', 1, 'v', 0, 'h', 'i'), frame(1<<indexBits, kindCancel, 0)))
	f.Add(join(calls, frame(1<<indexBits, kindRequest, flagMore, 1, 5, 0, 1), frame(1<<indexBits, kindChunk, flagMore, 2, 3), frame(1<<indexBits, kindChunk, 0, 4)))
	f.Add(join(streams, frame(1<<indexBits, kindOpen, 0, 1), frame(1<<indexBits, kindData, 0, 0, 'm'), frame(1<<indexBits, kindData, flagMore, 3, 0, 'm'),
		frame(1<<indexBits, kindData, 0, 'n'), frame(1<<indexBits, kindCredit, 0, 10), frame(1<<indexBits, kindEnd, flagHalf)))
	f.Add(join(streams, frame(1<<indexBits, kindOpen, 0, 1), frame(1<<indexBits, kindCancel, flagOfStream), frame(2<<indexBits, kindOpen, flagTimeout, 1, 1)))
	f.Add(join(calls, frame(0, kindName, 0, 1, 1, 'n'), frame(1<<indexBits, kindRequest, flagMore|flagMetadata, 1, 1, 1, 1, 'v', 5), // numbers given again
		streams, frame(2<<indexBits, kindOpen, 0, 1), events, frame(0, kindName, 0, 1, 1, 'm'), frame(1<<indexBits, kindChunk, 0, 0, 1, 2, 3, 4),
		frame(1<<indexBits|1, kindRequest, 0, 1, 1, 0, 'e'), frame(2<<indexBits, kindData, 0, 0, 'm')))
	f.Add(join(events, frame(1<<indexBits, kindRequest, 0, 1, 0, 2, 'o', 'k', 0, 'e'), frame(7, kindPost, flagMore, 1, 3, 0), frame(7, kindCancel, flagOfPost)))
	f.Add(join(events, frame(1<<indexBits, kindRequest, flagGroups, 1, 0, 2, 'o', 'k', 2, 0, 1, 'm', 0, 1, 's', 0, 'e')))
	f.Add(join(frame(0, kindName, 0, 1, 1, 'n'), frame(0, kindPost, 0, 1, 2), frame(3, kindPost, flagMore, 1, 2, 9), frame(3, kindChunk, flagOfPost, 8)))
	f.Add(join(frame(0, kindPing, 0, make([]byte, pingSize)...), frame(0, kindPong, 0, make([]byte, pingSize)...), frame(0, kindGoAway, 0), frame(0, kindGoAway, flagAnswer)))
	f.Add(join(frame(1<<indexBits, kindReply, 0, 0, 'r'), frame(1<<indexBits, kindReply, flagMore, 3, 0), frame(1<<indexBits, kindChunk, flagYours, 1, 2)))
	f.Add(join(calls, frame(1<<indexBits, kindRequest, flagPairs, 1, 0, 'h'), frame(1<<indexBits, kindReply, flagMetadata, 1, 1, 'n', 1, 'v', 0, 'r')))
	f.Add(join(frame(1<<indexBits, kindError, 0, appendFailure(nil, &Failure{Code: 3, Message: "m"})...), frame(0, kindSchema, 0, 1, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := newNode()
		n.inline = len(data)%2 == 0
		n.serve["echo"] = echo
		n.streams["echo"] = func(s *Stream) {
			for {
				value, _, err := s.Recv()
				if err != nil || s.Send(s.Context(), append(AppendRef(nil, 0), value...)) != nil {
					return
				}
			}
		}
		a, b := net.Pipe()
		limits := Limits{Message: 1 << 20, Calls: 8, Streams: 8, Window: 4096, Routes: 8, Schemas: 8, Names: 8, InFlight: NewBudget(8)}
		l := New(a, peerOfTest(Config{Node: "fuzz", Limits: limits}, false), Config{Node: "here", Limits: limits}, n)
		var all sync.WaitGroup
		all.Go(func() { io.Copy(io.Discard, b) })
		// Something of this side for the bytes to answer.
		all.Go(func() { call(t.Context(), l, "x", []byte("x"), func(c *Call) { c.Timeout = time.Second }) })
		b.Write(data)
		b.Close()
		<-n.closed
		<-l.finished
		all.Wait()
		for begun := time.Now(); limits.InFlight.InUse() > 0 || l.streams.open() > 0; runtime.Gosched() { // until the last is served
			if time.Since(begun) > 8*time.Second { // before the fuzzer finds less
				t.Fatalf("%d places are still in use, and %d streams are open", limits.InFlight.InUse(), l.streams.open())
			}
		}
	})
}
