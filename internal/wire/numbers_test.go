package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/native"
)

// said returns the fields of a request or a stream that the other side has decoded, besides its value, as text.
func said(r *Route, m Meta) string {
	return fmt.Sprintf("%d %s %s %s %s %v", r.Kind, r.Name, r.Codec, m.Event, m.Caller, m.Metadata)
}

// repeats answers everything with what was understood, and then the value.
type repeats struct{ *node }

func (repeats) Route(*Link, *Route) Target { return repeats{} }
func (repeats) Inline() bool               { return rand.IntN(2) == 0 }
func (repeats) Serve(in *Inbound) {
	in.Reply(append(append(AppendRef(in.Buf(), 0), said(in.Route, in.Meta)+"\n"...), in.Payload()...))
}
func (repeats) ServeStream(s *Stream) {
	for {
		value, _, err := s.Recv()
		if err != nil {
			return
		}
		if s.Send(s.Context(), append(append(AppendRef(nil, 0), said(s.Route, s.Meta())+"\n"...), value...)) != nil {
			return
		}
	}
}

func TestNumbersThatAreGivenAgainMixUpNothing(t *testing.T) {
	for _, limit := range []int{1, 2, 5} {
		for _, compression := range []Compression{NoCompression, S2} {
			t.Run(fmt.Sprint(limit, compression), func(t *testing.T) { mixUp(t, limit, compression) })
		}
	}
}

// mixUp has both sides of a link use more names than the link has numbers, in all that holds numbers, all at once.
func mixUp(t *testing.T, limit int, compression Compression) {
	a, b := conns(t, "tcp")
	one, other := newNode(), newNode()
	c := Config{Node: "one", Limits: Limits{Routes: limit, Names: limit}, Compression: compression, CompressAbove: 1000}
	d := c
	d.Node = "other"
	ofOne, ofOther := peerOfTest(c, false), peerOfTest(d, true)
	ofOne.Compression, ofOther.Compression = compression, compression
	links := []*Link{New(a, ofOther, c, repeats{one}), New(b, ofOne, d, repeats{other})}
	defer func() {
		for _, l := range links {
			l.Close(nil)
			<-l.finished
		}
	}()
	var all sync.WaitGroup
	for _, l := range links {
		for i := range 4 {
			all.Go(func() { manyCalls(t, l, uint64(i)) })
			all.Go(func() { manyMessages(t, l, i) })
		}
	}
	all.Wait()
	for _, l := range links {
		l.mu.Lock()
		if len(l.routes.known) > limit || len(l.names.known) > limit {
			t.Errorf("%d routes and %d names are numbered", len(l.routes.known), len(l.names.known))
		}
		l.mu.Unlock()
	}
}

// manyCalls calls and emits, with short values and with values in parts; some are canceled half way.
func manyCalls(t *testing.T, l *Link, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 7))
	name := func() string { return fmt.Sprint("name", random.IntN(20)) }
	for range rounds(300) {
		route := l.Declare(CallRoute, name(), "bytes")
		m := Meta{Caller: name(), Metadata: map[string]string{name(): name(), name(): name()}}
		if random.IntN(2) == 0 {
			route.Kind, m.Event = EventRoute, name()
		}
		size := []int{3, 3, 3, 2000, 90_000}[random.IntN(5)]
		value := strings.Repeat(fmt.Sprint(random.IntN(10)), size)
		ctx, cancel := context.WithCancel(t.Context())
		if random.IntN(10) == 0 {
			go cancel()
		}
		c := l.Call(route)
		c.Meta = m
		err := c.Do(ctx, append(AppendRef(c.Buf(), 0), value...))
		if err == nil && string(c.Reply()) != said(route, m)+"\n"+value {
			t.Errorf("%s was understood as %.200s", said(route, m), c.Reply())
		} else if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", said(route, m), err)
		}
		c.Free()
		cancel()
	}
}

// manyMessages keeps a stream open while its number is given to others, and sends over it.
func manyMessages(t *testing.T, l *Link, i int) {
	route, m := l.Declare(StreamRoute, fmt.Sprint("stream", i), "bytes"), Meta{Metadata: map[string]string{fmt.Sprint("stream", i): "x"}}
	s, err := l.Open(t.Context(), route, m)
	if err != nil {
		t.Error(err)
		return
	}
	for j := range rounds(100) {
		value := strings.Repeat(fmt.Sprint(j), 1+j%50)
		if err := s.Send(t.Context(), append(AppendRef(nil, 0), value...)); err != nil {
			t.Error(err)
			return
		}
		got, _, err := s.Recv()
		if err != nil || string(got) != said(route, m)+"\n"+value {
			t.Errorf("%s was understood as %.200s, error %v", said(route, m), got, err)
			return
		}
		// Another that uses the stream's number up.
		if other, err := l.Open(t.Context(), l.Declare(StreamRoute, fmt.Sprint("other", i, j), "bytes"), Meta{}); err == nil {
			other.Cancel()
		}
	}
	s.EndSends()
	if _, _, err := s.Recv(); err != io.EOF {
		t.Error(err)
	}
}

// A request that was read along a route is served along it, whatever its number means by then.
func TestARequestInPartsIsServedAlongTheRouteThatItBeganWith(t *testing.T) {
	n := newNode()
	for _, name := range []string{"first", "second"} {
		n.serve[name] = func(in *Inbound) {
			in.Reply(append(AppendRef(in.Buf(), 0), in.Route.Name+in.Metadata["zone"]+in.Metadata["area"]...))
		}
	}
	p := newRawPeer(t, n)
	zone, area := frame(0, kindName, 0, 1, 4, 'z', 'o', 'n', 'e'), frame(0, kindName, 0, 1, 4, 'a', 'r', 'e', 'a')
	p.write(routeFrame(CallRoute, "first"), zone, frame(1<<indexBits, kindRequest, flagMore|flagMetadata, 1, 1, 1, 1, 'z', 3),
		routeFrame(CallRoute, "second"), area, frame(1<<indexBits, kindChunk, 0, 0, 1, 2))
	if h, body := p.read(); h.kind != kindReply || string(body) != "\x00firstz" {
		t.Fatalf("kind %d, %q", h.kind, body)
	}
	p.write(frame(1<<indexBits, kindRequest, flagMetadata, 1, 1, 1, 1, 'a', 0))
	if h, body := p.read(); h.kind != kindReply || string(body) != "\x00seconda" {
		t.Fatalf("kind %d, %q", h.kind, body)
	}
}

func TestWhatIsUsedOftenKeepsItsNumber(t *testing.T) {
	server := newNode()
	server.serve["hot"] = echo
	p := newPair(t, "tcp", newNode(), server, func(_, server *Config) { server.Limits.Routes = 10 })
	hot := p.client.Declare(CallRoute, "hot", "bytes")
	for i := range 1000 {
		c := p.client.Call(hot)
		if err := c.Do(t.Context(), AppendRef(c.Buf(), 0)); err != nil {
			t.Fatal(err)
		}
		c.Free()
		call(t.Context(), p.client, fmt.Sprint("cold", i), nil)
	}
	if hot.declared.number != 1 {
		t.Errorf("its number is %d", hot.declared.number)
	}
}

// distinct is the number of names that the tests of bounds use.
const distinct = 1_000_000

// held returns the bytes of the heap in use.
func held() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestAMillionRoutesThatAreNotUsedHoldNothing(t *testing.T) {
	p := newPair(t, "tcp", newNode(), newNode())
	before := held()
	for i := range distinct {
		p.client.Declare(EventRoute, fmt.Sprintf("user.%d.seen", i), "native")
	}
	if grown := held() - before; grown > 1<<20 {
		t.Errorf("%d bytes are held", grown)
	}
	runtime.KeepAlive(p)
}

// TestAnyNumberOfNamesGoesOverOneLink sends far more different events, metadata keys, callers and routes over a link with default
// limits than its tables hold, with SABIR_TEST_ALL a million of each: it goes on working, and neither side holds more than its tables.
func TestAnyNumberOfNamesGoesOverOneLink(t *testing.T) {
	for _, what := range []struct {
		name string
		of   func(l *Link, i int) *Call
	}{
		{"events", func(l *Link, i int) *Call {
			c := l.Call(l.Declare(EventRoute, "mail", "bytes"))
			c.Event = fmt.Sprintf("user.%d.seen", i)
			return c
		}},
		{"metadata keys and callers", func(l *Link, i int) *Call {
			c := l.Call(l.Declare(CallRoute, "echo", "bytes"))
			c.Metadata, c.Caller = map[string]string{fmt.Sprintf("key %d", i): "x"}, fmt.Sprintf("user.%d.seen", i)
			return c
		}},
		{"routes", func(l *Link, i int) *Call {
			return l.Call(l.Declare(CallRoute, fmt.Sprintf("users.get%d", i), "bytes"))
		}},
	} {
		t.Run(what.name, func(t *testing.T) {
			count := distinct / 20
			if os.Getenv("SABIR_TEST_ALL") != "" {
				count = distinct
			}
			client, server := newNode(), newNode()
			a, b := conns(t, "mem")
			cc, sc := Config{Node: "client"}, Config{Node: "server"}
			p := pair{New(a, peerOfTest(sc, true), cc, client), New(b, peerOfTest(cc, false), sc, everything{server})}
			defer func() {
				p.client.Close(nil)
				p.server.Close(nil)
				<-p.client.finished
				<-p.server.finished
			}()
			before := held()
			var all sync.WaitGroup
			const callers = 50
			for at := range callers {
				all.Go(func() {
					for i := at; i < count; i += callers {
						c := what.of(p.client, i)
						if err := c.Do(t.Context(), AppendRef(c.Buf(), 0)); err != nil {
							t.Errorf("number %d: %v", i, err)
							return
						}
						c.Free()
					}
				})
			}
			all.Wait()
			if grown := held() - before; grown > 8<<20 {
				t.Errorf("%d bytes are held", grown)
			}
		})
	}
}

// everything serves all there is, on the reader.
type everything struct{ *node }

func (everything) Route(*Link, *Route) Target { return &target{inline: true, serve: echo} }

// A peer that gives its numbers to others as fast as it can makes this side hold no more than its tables.
func TestAPeerThatDeclaresAgainAndAgainHoldsNoMore(t *testing.T) {
	p := newRawPeer(t, newNode(), func(c *Config) { c.Limits.Routes, c.Limits.Names = 16, 16 })
	before := held()
	for i := range distinct / 100 {
		number := byte(i%16 + 1)
		text := fmt.Sprintf("%0200d", i)
		p.write(frame(0, kindRoute, 0, append(appendString([]byte{number, byte(CallRoute)}, text), 0)...),
			frame(0, kindName, 0, appendString([]byte{number}, text)...))
	}
	for deadline := time.Now().Add(time.Minute); p.link.Stats().FramesIn < 2*distinct/100; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d frames were read: %v", p.link.Stats().FramesIn, p.link.Err())
		}
	}
	if grown := held() - before; grown > 1<<20 {
		t.Errorf("%d bytes are held", grown)
	}
}

// bigSchema makes a schema of about 50 KiB, another for each i.
func bigSchema(t *testing.T, i int) *native.Schema {
	t.Helper()
	var fields []reflect.StructField
	for at := range 200 {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d%s%d", i, strings.Repeat("x", 230), at), Type: reflect.TypeFor[int]()})
	}
	schema, err := native.SchemaOf(reflect.StructOf(fields))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestSchemasOfALinkAreBoundedInBytes(t *testing.T) {
	server := newNode()
	server.serve["echo"] = echo
	p := newPair(t, "tcp", newNode(), server)
	raw := newRawPeer(t, newNode())
	var refused error
	for i := 1; refused == nil; i++ {
		schema := bigSchema(t, i)
		_, refused = p.client.DeclareSchema(schema)
		raw.write(frame(0, kindSchema, 0, append(binary.AppendUvarint(nil, uint64(i)), schema.Bytes()...)...))
	}
	if f, ok := errors.AsType[*Failure](refused); !ok || f.Name != NameTooMuchDeclared {
		t.Fatalf("refused with %v", refused)
	}
	if _, err := call(t.Context(), p.client, "echo", nil); err != nil {
		t.Errorf("a side that kept to the bound: %v; the other side: %v", err, p.server.Err())
	}
	raw.ended()
}
