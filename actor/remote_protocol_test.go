package actor

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"testing"
	"time"
	"unique"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/wire"
)

// deaf is a connection that takes everything, and from which nothing comes until it is closed.
type deaf struct {
	net.Conn // the end that the link reads from
}

func (d deaf) Write(b []byte) (int, error)      { return len(b), nil }
func (d deaf) SetWriteDeadline(time.Time) error { return nil }

// idleHandler is the owner of a link that does nothing.
type idleHandler struct{}

func (idleHandler) Opened(*wire.Link)                         {}
func (idleHandler) Route(*wire.Link, *wire.Route) wire.Target { return nil }
func (idleHandler) Post(*wire.Link, uint8, []byte)            {}
func (idleHandler) GoAway(*wire.Link)                         {}
func (idleHandler) Closed(*wire.Link, error)                  {}

// rig is a system a that receives from node b what the test sends.
type rig struct {
	*System
	link *wire.Link
	pid  PID
}

type sample struct {
	N    int
	Text string
	Who  PID
}

type callee struct{ pending Request }

func (*callee) Take(*Process, sample) error              { return nil }
func (*callee) Ask(_ *Process, g sample) (sample, error) { return g, nil }
func (h *callee) Later(p *Process, _ total) (sample, error) {
	h.pending = p.Request()
	return sample{}, ErrNoReply
}

var calleeBehavior = Define[callee, sample]("samples", func(*callee, *Process, sample) error { return nil },
	OnMessage((*callee).Take), OnCall((*callee).Ask), OnCall((*callee).Later))

func newRig(t testing.TB) *rig {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { far.Close() })
	return newRigOver(t, deaf{near})
}

func newRigOver(t testing.TB, conn net.Conn) *rig {
	t.Helper()
	s := NewSystem(Config{Logger: slog.New(slog.DiscardHandler)})
	s.home = unique.Make(home{node: "a", instance: 1})
	s.node, s.remote.system = sabir.NewNode(sabir.NodeID("a")), s
	peer := wire.Peer{Node: "b", Limits: wire.Limits{Message: 1 << 20, Calls: 10, Streams: 10, Window: 1 << 16, Routes: 10, Schemas: 10, Names: 10}}
	r := &rig{System: s, link: wire.New(conn, peer, wire.Config{Node: "a", SilenceLimit: time.Hour, PingInterval: time.Minute}, idleHandler{})}
	s.remote.linked(r.link)
	t.Cleanup(func() {
		r.link.Close(nil)
		<-r.link.Done()
		s.remote.unlinked(r.link, wire.ErrClosed)
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		s.remote.gone.Wait()
	})
	var err error
	if r.pid, err = calleeBehavior.Spec(sample{}, SpawnConfig{Name: "house"}).Start(s); err != nil {
		t.Fatal(err)
	}
	calleeBehavior.AllowRemoteSpawn(s)
	return r
}

func helloPost() []byte {
	return append(appendID([]byte{byte(opHello), protocolVersion}, 99), 1)
}

func declarePost(number byte, name string, schema []byte) []byte {
	return append(appendText([]byte{byte(opDeclare), number}, name), schema...)
}

// posts is one valid post of each verb, after hello, by its name.
func posts(r *rig) (names []string, all [][]byte) {
	add := func(name string, post []byte) { names, all = append(names, name), append(all, post) }
	to := PID{r.home, r.pid.id}
	value, _ := native.For[sample]().Append(nil, &sample{5, "five", to})
	values := append(append(binary.AppendUvarint(nil, uint64(len(value))), value...), append(binary.AppendUvarint(nil, uint64(len(value))), value...)...)
	one := values[:len(values)/2]
	schema := native.For[sample]().Schema().Bytes()
	head := func(v opcode, number ...byte) []byte {
		return appendAddress(appendID(append([]byte{byte(v)}, append(number, byte(PriorityNormal))...), 1<<32|7), to)
	}
	add("declare", declarePost(0, messagesOf[sample]().k.name, schema))
	add("send", append(append(head(opSend), 0), values...))
	add("important", append(append(head(opConfirmed, 1), 0), one...))
	add("call", append(append(head(opCall, 2), 0, 0), one...))
	context := binary.AppendUvarint([]byte{withTimeout | withRequestID | withMetadata}, 1_000_000)
	context = appendText(appendText(append(appendText(context, "r"), 1), "key"), "value")
	add("call with context", append(append(append(head(opCall, 3), context...), 0), one...))
	add("answer", append([]byte{byte(opAnswer), 9, 0}, value...))
	add("failure", appendError([]byte{byte(opFailure), 9}, errors.New("no"), "b", nil))
	add("done", []byte{byte(opDone), 9})
	add("cancel", []byte{byte(opCancel), 2})
	add("exit", appendError(appendAddress(appendID([]byte{byte(opExit), 0}, 1<<32|7), to), ErrNormal, "b", nil))
	add("link", appendID(appendID([]byte{byte(opLink)}, to.id), 1<<32|8))
	add("unlink", appendID(appendID([]byte{byte(opUnlink)}, to.id), 1<<32|8))
	add("watch", monitorPost(opWatch, to, 3, PID{r.home, 1<<32 | 8}))
	add("unwatch", monitorPost(opUnwatch, to, 3, PID{r.home, 1<<32 | 8}))
	add("down", appendError(appendID(appendID(appendID([]byte{byte(opDown)}, 4), to.id), 1<<32|8), ErrKilled, "b", nil))
	spawn := appendID(append(appendID([]byte{byte(opSpawn), 5}, 1<<32|8), spawnLinked|spawnMonitored), 6)
	spawn = append(appendText(appendText(spawn, "samples"), "sample"), 10, byte(Reject), 0, 0)
	add("spawn", append(spawn, one...))
	add("kill by name", appendAddress([]byte{byte(opKill)}, placeholder(Name{"nobody", "a"})))
	return names, all
}

func TestEachValidPostIsTakenAndKeepsTheLink(t *testing.T) {
	r := newRig(t)
	r.remote.posted(r.link, helloPost())
	names, all := posts(r)
	for i, post := range all {
		r.remote.posted(r.link, post)
		if err := r.link.Err(); err != nil {
			t.Fatalf("%s: %v", names[i], err)
		}
	}
	if lost := r.Stats(); lost.NotHandled != 0 || lost.Undelivered != 0 {
		t.Errorf("lost were %+v", lost)
	}
}

func TestAPostThatIsCutShortEndsTheLink(t *testing.T) {
	names, _ := posts(newRig(t))
	for i, name := range names {
		if name == "answer" { // what is in it shows only to a caller that waits
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.remote.posted(r.link, helloPost())
			_, all := posts(r)
			if i > 0 {
				r.remote.posted(r.link, all[0])
			}
			if err := r.link.Err(); err != nil {
				t.Fatal(err)
			}
			r.remote.posted(r.link, all[i][:len(all[i])-1])
			if r.link.Err() == nil {
				t.Error("the link stands")
			}
		})
	}
}

func TestAHostilePostEndsTheLink(t *testing.T) {
	schema := native.For[sample]().Schema().Bytes()
	for name, hostile := range map[string][][]byte{
		"empty":                  {helloPost(), {}},
		"before hello":           {{byte(opDone), 1}},
		"two hellos":             {helloPost(), helloPost()},
		"hello with more":        {append(helloPost(), 1)},
		"a type out of turn":     {helloPost(), declarePost(1, "x", schema)},
		"a type without name":    {helloPost(), declarePost(0, "", schema)},
		"a schema that is none":  {helloPost(), declarePost(0, "x", []byte("no schema"))},
		"a type not declared":    {helloPost(), {byte(opSend), 2, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}},
		"a queue that is not":    {helloPost(), declarePost(0, "x", schema), {byte(opSend), 9, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}},
		"an address that is not": {helloPost(), {byte(opKill), 7, 1, 2, 3, 4, 5, 6, 7, 8}},
		"a spawn nobody wants":   {helloPost(), append([]byte{byte(opSpawned), 200, 1}, 1, 0, 0, 0, 1, 0, 0, 0, 0)},
		"an endless number":      {helloPost(), {byte(opDone), 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for _, post := range hostile {
				if err := r.link.Err(); err != nil {
					t.Fatal(err)
				}
				r.remote.posted(r.link, post)
			}
			if r.link.Err() == nil {
				t.Error("the link stands")
			}
		})
	}
}

func TestReasonsOfExitsAreTheSameVariablesAfterTheWire(t *testing.T) {
	for _, want := range []error{ErrNormal, ErrShutdown, ErrKilled, ErrNoProcess, ErrNoConnection} {
		r := postReader{data: appendError(nil, want, "b", nil)}
		if got := r.error(); got != want || r.end() != nil {
			t.Errorf("%v came as %v", want, got)
		}
	}
	r := postReader{data: appendError(nil, problem(ErrNoProcess, "b", "x"), "c", nil)}
	if got := r.error(); got == error(ErrNoProcess) || !errors.Is(got, ErrNoProcess) {
		t.Errorf("%v came", got)
	}
}

func TestAliasesSurviveTheirBinaryForm(t *testing.T) {
	for _, want := range []Alias{{}, {unique.Make(home{node: "b", instance: 7}), 9}} {
		data, err := want.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		got := Alias{number: 1}
		if err := got.UnmarshalBinary(data); err != nil || got != want {
			t.Errorf("%+v came as %+v: %v", want, got, err)
		}
	}
	for _, bad := range [][]byte{{1}, make([]byte, 16), make([]byte, 17), make([]byte, 300)} {
		if new(Alias).UnmarshalBinary(bad) == nil {
			t.Errorf("%d bytes were taken", len(bad))
		}
	}
}

// FuzzPosts sends to a system what the fuzzer makes, after a hello and with a type declared: posts with their length before
// them, in two bytes. The system must keep running: it answers a call of its own.
func FuzzPosts(f *testing.F) {
	seeds := newRig(f)
	_, all := posts(seeds)
	var whole []byte
	for _, post := range all[1:] {
		one := append(binary.LittleEndian.AppendUint16(nil, uint16(len(post))), post...)
		f.Add(one)
		whole = append(whole, one...)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newRig(t)
		r.remote.posted(r.link, helloPost())
		_, all := posts(r)
		r.remote.posted(r.link, all[0])
		for len(data) > 2 {
			n := min(int(binary.LittleEndian.Uint16(data)), len(data)-2)
			r.remote.posted(r.link, data[2:2+n])
			data = data[2+n:]
		}
		pid, err := Spawn(r, calleeBehavior, sample{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // callTimeout can pass on a machine that has much else to do
		defer cancel()
		if got, err := Call[sample](ctx, r, pid, sample{N: 3}); err != nil && r.Alive(pid.PID()) || err == nil && got.N != 3 {
			t.Fatal(got, err)
		}
	})
}

// pourer sends until it cannot.
type pourer struct{ done chan poured }

type poured struct {
	sent int
	err  error
}

func (w *pourer) Pour(p *Process, to holding) error {
	for sent := 0; ; sent++ {
		if err := Send(p, to.who, sample{Text: string(make([]byte, 1000))}); err != nil {
			w.done <- poured{sent, err}
			return nil
		}
	}
}

type holding struct{ who PID }

var pourerBehavior = Define("pourer", func(w *pourer, _ *Process, done chan poured) error { w.done = done; return nil }, OnMessage((*pourer).Pour))

func TestASenderWaitsWhileTheLinkIsFullAndOthersGoOn(t *testing.T) {
	near, far := net.Pipe() // whose other end is not read
	defer far.Close()
	r := newRigOver(t, near)
	r.remote.posted(r.link, helloPost())
	done := make(chan poured, 1)
	pid, err := Spawn(r, pourerBehavior, done)
	if err != nil {
		t.Fatal(err)
	}
	if err := Send(r, pid, holding{PID{unique.Make(home{node: "b", instance: 99}), 1<<32 | 1}}); err != nil {
		t.Fatal(err)
	}
	for r.link.TryPost(0, nil) { // until the link is full
		runtime.Gosched()
	}
	if got, err := Call[sample](t.Context(), r, r.pid, sample{N: 4}); err != nil || got.N != 4 {
		t.Error(got, err)
	}
	r.link.Close(nil)
	got := <-done
	if !errors.Is(got.err, ErrNoConnection) {
		t.Errorf("it ended with %v", got.err)
	}
	if got.sent > 4<<10 {
		t.Errorf("%d messages of 1000 bytes were taken by a link that nobody reads", got.sent)
	}
}
