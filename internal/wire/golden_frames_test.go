package wire

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/native"
)

// frozen is one end of a link whose other end is a test that reads and writes frames by hand.
type frozen struct {
	t    *testing.T
	link *Link
	conn net.Conn
	// What the link's handler got.
	served  chan *Inbound
	posts   chan string
	goAways chan bool
	streams chan string
}

func newFrozen(t *testing.T) *frozen {
	ours, theirs := net.Pipe()
	f := &frozen{t: t, conn: theirs, served: make(chan *Inbound, 1), posts: make(chan string, 1), goAways: make(chan bool, 1), streams: make(chan string, 1)}
	c := Config{Node: "a", PingInterval: time.Hour, SilenceLimit: 2 * time.Hour, Load: func() Load { return Load{CPU: 0.5, Calls: 3, Waiting: 1} }}
	limits := c.withDefaults().Limits
	f.link = New(ours, Peer{Node: "b", Limits: limits, Version: 3, Features: []string{groupsFeature}}, c, f)
	t.Cleanup(func() {
		f.link.Close(nil)
		theirs.Close()
		<-f.link.finished
	})
	return f
}

func (f *frozen) Route(*Link, *Route) Target                 { return f }
func (f *frozen) Opened(*Link)                               {}
func (f *frozen) Post(_ *Link, topic uint8, data []byte)     { f.posts <- string(topic) + string(data) }
func (f *frozen) GoAway(*Link)                               { f.goAways <- true }
func (f *frozen) Closed(*Link, error)                        {}
func (f *frozen) Inline() bool                               { return false }
func (f *frozen) send(golden map[string][]byte, n ...string) { f.write(golden, n) }

// Serve answers "hi" with "hello" and everything else with a failure.
func (f *frozen) Serve(in *Inbound) {
	f.served <- &Inbound{Route: in.Route, Meta: in.Meta, payload: slices.Clone(in.payload), schema: in.schema}
	if string(in.Payload()) == "\x02hi" {
		in.Reply(append(AppendRef(in.Buf(), 0), "\x05hello"...))
		return
	}
	in.Fail(&Failure{Code: 8, Retryable: true, Name: "Busy", Message: "try later", Node: "a", Data: []byte(`{"n":1}`)})
}

// ServeStream sends back what it gets, and then stops receiving.
func (f *frozen) ServeStream(s *Stream) {
	value, _, err := s.Recv()
	if err != nil {
		f.streams <- err.Error()
		return
	}
	f.streams <- string(value)
	s.Send(context.Background(), append(AppendRef(nil, 0), value...))
	if _, _, err := s.Recv(); err == io.EOF {
		s.End(&Failure{Code: 9, Name: "Enough"})
	}
}

func (f *frozen) write(golden map[string][]byte, names []string) {
	f.t.Helper()
	for _, name := range names {
		if _, err := f.conn.Write(golden[name]); err != nil {
			f.t.Fatalf("%s: %v", name, err)
		}
	}
}

// next returns the next frame of the link.
func (f *frozen) next() []byte {
	f.t.Helper()
	frame := make([]byte, headerSize)
	if _, err := io.ReadFull(f.conn, frame); err != nil {
		f.t.Fatal(err)
	}
	frame = append(frame, make([]byte, binary.LittleEndian.Uint32(frame))...)
	if _, err := io.ReadFull(f.conn, frame[headerSize:]); err != nil {
		f.t.Fatal(err)
	}
	return frame
}

// expect holds that the link's next frames are these.
func (f *frozen) expect(names ...string) {
	f.t.Helper()
	var vectors []vector
	for _, name := range names {
		vectors = append(vectors, vector{name, f.next()})
	}
	checkGolden(f.t, vectors)
}

var fullMeta = Meta{Timeout: 1500 * time.Millisecond, Level: 2, Caller: "shop.buy", RequestID: "r-7", Metadata: map[string]string{"zone": "x"}}

func TestCallIsSentAsItWas(t *testing.T) {
	f, golden := newFrozen(t), goldenVectors(t)
	results := make(chan error, 2)
	var reply string
	call := func(ctx context.Context, m Meta, value string) {
		c := f.link.Call(f.link.Declare(CallRoute, "shop.buy", "native"))
		defer c.Free()
		c.Meta = m
		err := c.Do(ctx, append(AppendRef(c.Buf(), 0), value...))
		reply = string(c.Reply())
		results <- err
	}

	go call(context.Background(), Meta{}, "\x02hi")
	f.expect("call-route", "request")
	f.send(golden, "reply")
	if err := <-results; err != nil || reply != "\x05hello" {
		t.Fatalf("reply %q, error %v", reply, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	go call(ctx, fullMeta, "\x02no")
	f.expect("name-caller", "name-zone", "request-full")
	cancel()
	f.expect("cancel")
	if err := <-results; err != context.Canceled {
		t.Fatal(err)
	}
	f.send(golden, "error") // frees the entry for the next, whose id is then known

	go call(context.Background(), Meta{}, "\x02no")
	third := f.next()
	failure := slices.Clone(golden["error"])
	copy(failure[4:8], third[4:8])
	f.conn.Write(failure)
	want := &Failure{Code: 8, Retryable: true, Name: "Busy", Message: "try later", Node: "a", Data: []byte(`{"n":1}`)}
	if err := <-results; !reflect.DeepEqual(err, want) {
		t.Errorf("%#v", err)
	}
}

func TestCallIsUnderstoodAsItWas(t *testing.T) {
	f, golden := newFrozen(t), goldenVectors(t)
	f.send(golden, "call-route", "request")
	if in := <-f.served; in.Route.Name != "shop.buy" || in.Route.Codec != "native" || !reflect.DeepEqual(in.Meta, Meta{}) {
		t.Errorf("served %+v", in)
	}
	f.expect("reply")
	f.send(golden, "name-caller", "name-zone", "request-full")
	if in := <-f.served; !reflect.DeepEqual(in.Meta, fullMeta) || string(in.payload) != "\x02no" {
		t.Errorf("served %+v", in)
	}
	f.expect("error")
}

func TestEventPostAndSchemaAreWhatTheyWere(t *testing.T) {
	f, golden := newFrozen(t), goldenVectors(t)
	schema, err := native.SchemaOf(reflect.TypeFor[int32]())
	if err != nil {
		t.Fatal(err)
	}
	number, err := f.link.DeclareSchema(schema)
	if err != nil {
		t.Fatal(err)
	}
	lost := make(chan error, 1)
	go func() {
		c := f.link.Call(f.link.Declare(EventRoute, "mail", "native"))
		defer c.Free()
		c.Event = "sold"
		lost <- c.Do(context.Background(), append(AppendRef(c.Buf(), number), 7)) // there is no answer before the link ends
	}()
	t.Cleanup(func() { f.link.Close(nil); <-lost })
	f.expect("schema", "event-route", "name-sold", "event")
	go f.link.Post(context.Background(), 2, []byte("news"))
	f.expect("post")

	f.send(golden, "schema", "event-route", "name-sold", "event", "post")
	in := <-f.served
	if in.Route.Kind != EventRoute || in.Route.Name != "mail" || in.Event != "sold" || in.schema.Hash() != schema.Hash() || string(in.payload) != "\x07" {
		t.Errorf("served %+v", in)
	}
	if post := <-f.posts; post != "\x02news" {
		t.Errorf("post %q", post)
	}
}

func TestGroupsOfAnEventAreWhatTheyWere(t *testing.T) {
	f, golden := newFrozen(t), goldenVectors(t)
	lost := make(chan error, 1)
	go func() {
		c := f.link.Call(f.link.Declare(EventRoute, "mail", "native"))
		defer c.Free()
		c.Event, c.Groups = "sold", []string{"mail", "stock"}
		lost <- c.Do(context.Background(), append(AppendRef(c.Buf(), 0), 7)) // there is no answer before the link ends
	}()
	t.Cleanup(func() { f.link.Close(nil); <-lost })
	f.expect("event-route", "name-sold", "name-mail", "name-stock", "event-to-groups")

	f.send(golden, "event-route", "name-sold", "name-mail", "name-stock", "event-to-groups")
	if in := <-f.served; in.Event != "sold" || !slices.Equal(in.Groups, []string{"mail", "stock"}) || string(in.payload) != "\x07" {
		t.Errorf("served %+v", in)
	}
}

// TestAnEventOfAPeerWithoutTheFeatureHasNoGroups holds that a node of before sees and sends the frames that it knows.
func TestAnEventOfAPeerWithoutTheFeatureHasNoGroups(t *testing.T) {
	f, golden := newFrozen(t), goldenVectors(t)
	f.link.groups = false
	lost := make(chan error, 1)
	go func() {
		c := f.link.Call(f.link.Declare(EventRoute, "mail", "native"))
		defer c.Free()
		c.Event, c.Groups = "sold", []string{"mail", "stock"}
		lost <- c.Do(context.Background(), append(AppendRef(c.Buf(), 0), 7))
	}()
	t.Cleanup(func() { f.link.Close(nil); <-lost })
	f.expect("event-route", "name-sold")
	if got := f.next(); got[9] != 0 || string(got[headerSize:]) != "\x01\x01\x00\x07" {
		t.Errorf("the event is %x", got)
	}

	f.send(golden, "event-route", "name-sold")
	f.conn.Write(frame(1<<indexBits, kindRequest, flagPairs, 1, 1, 0, 7)) // it takes pairs
	if in := <-f.served; in.Event != "sold" || in.Groups != nil || string(in.payload) != "\x07" {
		t.Errorf("served %+v", in)
	}
}

func TestStreamIsSentAsItWas(t *testing.T) {
	f, golden := newFrozen(t), goldenVectors(t)
	var s *Stream
	opened := make(chan error, 1)
	go func() {
		var err error
		if s, err = f.link.Open(context.Background(), f.link.Declare(StreamRoute, "shop.watch", "json"), Meta{}); err == nil {
			err = s.Send(context.Background(), append(AppendRef(nil, 0), "1"...))
		}
		if err == nil {
			s.EndSends()
		}
		opened <- err
	}()
	f.expect("stream-route", "open", "data", "end-half")
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	f.send(golden, "data-back", "end-failed")
	if value, _, err := s.Recv(); err != nil || string(value) != "1" {
		t.Errorf("%q, %v", value, err)
	}
	received := make(chan error, 1)
	go func() {
		_, _, err := s.Recv()
		received <- err
	}()
	if err := <-received; !reflect.DeepEqual(err, &Failure{Code: 9, Name: "Enough"}) {
		t.Errorf("%#v", err)
	}

	go func() {
		s, err := f.link.Open(context.Background(), f.link.Declare(StreamRoute, "shop.watch", "json"), Meta{})
		if err == nil {
			s.Cancel()
		}
	}()
	for {
		// What the first stream received may have been given back before its end came.
		if frame := f.next(); kind(frame[8]) != kindCredit {
			break // the open
		}
	}
	f.expect("cancel-stream")
}

func TestStreamIsUnderstoodAsItWas(t *testing.T) {
	f, golden := newFrozen(t), goldenVectors(t)
	f.send(golden, "stream-route", "open", "data")
	if got := <-f.streams; got != "1" {
		t.Errorf("received %q", got)
	}
	f.expect("data-back", "credit")
	f.send(golden, "end-half")
	f.expect("end-failed")
}

func TestPingAndGoAwayAreWhatTheyWere(t *testing.T) {
	f, golden := newFrozen(t), goldenVectors(t)
	f.send(golden, "ping")
	f.expect("pong")
	if load := f.link.Load(); load != (Load{CPU: 0.25, Calls: 4, Waiting: 2}) {
		t.Errorf("load %+v", load)
	}
	go f.link.GoAway()
	f.expect("goaway")
	f.send(golden, "goaway")
	f.expect("goaway-answer")
	<-f.goAways
}

// TestLongRequestIsSentAsItWas freezes what is around the bytes of a value of 65540 bytes: a schema number and 65539 times "x".
// The first frame has none of them, since its numbers count for its place among the declarations.
func TestLongRequestIsSentAsItWas(t *testing.T) {
	f, golden := newFrozen(t), goldenVectors(t)
	value := append(AppendRef(nil, 0), strings.Repeat("x", 65539)...)
	done := make(chan error, 1)
	go func() {
		c := f.link.Call(f.link.Declare(CallRoute, "shop.buy", "native"))
		defer c.Free()
		done <- c.Do(context.Background(), value)
	}()
	f.expect("call-route", "long-request-start")
	first := f.next()
	checkGolden(t, []vector{{"chunk-start", first[:headerSize+1]}}) // up to the schema number
	if rest := first[headerSize:]; string(rest) != string(value[:chunkSize]) {
		t.Error("the first chunk is not the beginning of the value")
	}
	f.expect("chunk")
	f.send(golden, "reply")
	if err := <-done; err != nil {
		t.Fatal(err)
	}

	other := newFrozen(t)
	other.send(golden, "call-route", "long-request-start", "chunk-start")
	other.conn.Write(value[1:chunkSize])
	other.send(golden, "chunk")
	if in := <-other.served; string(in.payload) != string(value[1:]) {
		t.Errorf("%d bytes came", len(in.payload))
	}
	other.next()
}
