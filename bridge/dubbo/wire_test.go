package dubbo_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/internal/errname"
)

// peer is the other side of a connection, which writes and reads frames byte by byte.
type peer struct {
	t *testing.T
	net.Conn
	reader *bufio.Reader
}

func dial(t *testing.T, address string) *peer {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return newPeer(t, c)
}

func newPeer(t *testing.T, c net.Conn) *peer {
	t.Helper()
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(waitLimit)); err != nil {
		t.Fatal(err)
	}
	return &peer{t, c, bufio.NewReader(c)}
}

// frame is a frame as the wire has it.
func frame(flags, status byte, id uint64, body []byte) []byte {
	out := append([]byte{0xda, 0xbb, flags, status}, binary.BigEndian.AppendUint64(nil, id)...)
	return append(binary.BigEndian.AppendUint32(out, uint32(len(body))), body...)
}

func encode(t *testing.T, values ...any) []byte {
	t.Helper()
	e := hessian.NewEncoder(nil)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	return e.Bytes()
}

// call is the body of a request to OrderService.
func call(t *testing.T, method, descriptor string, attachments map[string]any, arguments ...any) []byte {
	t.Helper()
	values := append([]any{"2.0.2", "com.shop.OrderService", "1.0.0", method, descriptor}, arguments...)
	return encode(t, append(values, attachments)...)
}

func (p *peer) write(data []byte) {
	p.t.Helper()
	if _, err := p.Write(data); err != nil {
		p.t.Fatal(err)
	}
}

// next reads a frame.
func (p *peer) next() (flags, status byte, id uint64, body []byte) {
	p.t.Helper()
	header := make([]byte, 16)
	if _, err := io.ReadFull(p.reader, header); err != nil {
		p.t.Fatal(err)
	}
	body = make([]byte, binary.BigEndian.Uint32(header[12:]))
	if _, err := io.ReadFull(p.reader, body); err != nil {
		p.t.Fatal(err)
	}
	return header[2], header[3], binary.BigEndian.Uint64(header[4:]), body
}

// ended waits for the end of the connection.
func (p *peer) ended() {
	p.t.Helper()
	if n, err := io.Copy(io.Discard, p.reader); n > 0 || err != nil && !strings.Contains(err.Error(), "reset") {
		p.t.Errorf("the connection did not end: %d bytes, %v", n, err)
	}
}

// serving is a node that serves orders, and its address.
func serving(t *testing.T, options dubbo.Config) (*sabir.Node, string) {
	t.Helper()
	address := freeAddress(t)
	node := start(t, sabir.Serve(orders(make(noted, 100))), dubbo.Bridge(serveAt(options, map[string][]dubbo.Interface{"dubbo://" + address: {mapping()}})))
	return node, address
}

func TestAHeartbeatIsAnsweredAsJavaDoes(t *testing.T) {
	_, address := serving(t, dubbo.Config{})
	p := dial(t, address)
	p.write([]byte("\xda\xbb\xe2\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x01N"))
	want := "\xda\xbb\x22\x14\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x01N"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(p.reader, got); err != nil || string(got) != want {
		t.Errorf("the answer is %x, %v, want %x", got, err, want)
	}
}

func TestAnAnswerIsByteForByteThatOfJava(t *testing.T) {
	_, address := serving(t, dubbo.Config{})
	p := dial(t, address)
	p.write(frame(0xc2, 0, 7, call(t, "ping", "", map[string]any{})))
	want, _ := hex.DecodeString("dabb0214" + "0000000000000007" + "00000014" + "94" + "04706f6e67" + "48" + "05647562626f" + "05322e302e32" + "5a")
	got := make([]byte, len(want))
	if _, err := io.ReadFull(p.reader, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the answer is %x, %v, want %x", got, err, want)
	}
}

// Dubbo for Go breaks the connection, with all calls on it, where null comes as a value.
func TestNullIsAnsweredByTheKindThatJavaHasForIt(t *testing.T) {
	address := freeAddress(t)
	s := sabir.NewService("orders")
	sabir.Handle(s, "none", func(context.Context, sabir.Empty) (*string, error) { return nil, nil })
	sabir.Handle(s, "void", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil })
	start(t, sabir.Serve(s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"dubbo://" + address: {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}}}}))
	p := dial(t, address)
	for _, method := range []string{"none", "void"} {
		p.write(frame(0xc2, 0, 7, call(t, method, "", nil)))
		if _, status, _, body := p.next(); status != 20 || body[0] != 0x95 || body[1] != 'H' {
			t.Errorf("%s: the status is %d, and the body %x", method, status, body)
		}
	}
	p.write(frame(0xc2, 0, 7, call(t, "$echo", "Ljava/lang/Object;", nil, nil)))
	if _, status, _, body := p.next(); status != 20 || body[0] != 0x95 || body[1] != 'H' {
		t.Errorf("$echo: the status is %d, and the body %x", status, body)
	}
}

func TestASilentConsumerGetsHeartbeatsAndIsLeft(t *testing.T) {
	_, address := serving(t, dubbo.Config{Heartbeat: 50 * time.Millisecond})
	p := dial(t, address)
	if flags, _, _, body := p.next(); flags != 0xe2 || string(body) != "N" {
		t.Errorf("got the flags %x and the body %q, want a heartbeat", flags, body)
	}
	_, _ = io.Copy(io.Discard, p.reader) // until it ends: the deadline of the connection would be an error below
	if _, err := p.reader.ReadByte(); err != io.EOF && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection did not end: %v", err)
	}
}

func TestAStopIsAnnouncedAndCallsInFlightAreAnswered(t *testing.T) {
	address, begun, goOn := freeAddress(t), make(chan bool), make(chan bool)
	s := sabir.NewService("orders")
	sabir.Handle(s, "number", func(context.Context, sabir.Empty) (int, error) { return 7, nil })
	sabir.Handle(s, "ping", func(context.Context, sabir.Empty) (string, error) {
		begun <- true
		<-goOn
		return "done", nil
	})
	node := start(t, sabir.Serve(s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"dubbo://" + address: {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}}}}))
	p := dial(t, address)
	p.write(frame(0xc2, 0, 1, call(t, "ping", "", nil)))
	<-begun
	stopped := make(chan error)
	go func() { stopped <- node.Stop(t.Context()) }()
	if flags, _, _, body := p.next(); flags != 0xa2 || string(body) != "\x01R" {
		t.Errorf("got the flags %x and the body %q, want the event that no more calls are taken", flags, body)
	}
	// Calls that a consumer sent before it read the event are answered, later ones are refused.
	status, taken := byte(20), 0
	for id := uint64(2); status == 20; id++ {
		p.write(frame(0xc2, 0, id, call(t, "number", "", nil)))
		var answered uint64
		if _, status, answered, _ = p.next(); answered != id {
			t.Fatalf("got the answer %d, want %d", answered, id)
		}
		if status == 20 {
			taken++
		}
	}
	if status != 35 || taken == 0 {
		t.Errorf("after %d calls that were taken one was refused with the status %d", taken, status)
	}
	close(goOn)
	if _, status, id, body := p.next(); id != 1 || status != 20 || !strings.Contains(string(body), "done") {
		t.Errorf("the answer %d has the status %d and the body %q", id, status, body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	p.ended()
}

func TestAnswersHaveAttachmentsForCallersThatReadThem(t *testing.T) {
	_, address := serving(t, dubbo.Config{})
	p := dial(t, address)
	for version, kind := range map[string]byte{"2.0.1": 0x91, "2.0.2": 0x94, "2.0.10": 0x94, "2.0.99": 0x94, "2.0.100": 0x91, "2.5.3": 0x91, "2.0.": 0x91, "": 0x91} {
		p.write(frame(0xc2, 0, 1, encode(t, version, "com.shop.OrderService", "1.0.0", "ping", "", map[string]any{})))
		if _, status, _, body := p.next(); status != 20 || body[0] != kind {
			t.Errorf("%q: the status is %d, and the answer begins with %x, want %x", version, status, body[0], kind)
		}
	}
}

func TestASilentProviderGetsHeartbeatsAndIsLeft(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	start(t, dubbo.Bridge(dubbo.Config{Heartbeat: 300 * time.Millisecond, References: map[string][]dubbo.Interface{"dubbo://" + listener.Addr().String(): {typed()}}}))
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	p := newPeer(t, c)
	if flags, _, id, body := p.next(); flags != 0xe2 || string(body) != "N" {
		t.Errorf("got the flags %x and the body %q, want a heartbeat", flags, body)
	} else {
		p.write(frame(0x22, 20, id, []byte("N"))) // one that answers is kept
	}
	if flags, _, _, _ := p.next(); flags != 0xe2 {
		t.Errorf("got the flags %x, want the next heartbeat", flags)
	}
	_, _ = io.Copy(io.Discard, p.reader) // until it ends: the deadline of the connection would be an error below
	if _, err := p.reader.ReadByte(); err != io.EOF && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection did not end: %v", err)
	}
}

func TestAOneWayCallHasNoAnswer(t *testing.T) {
	notes, address := make(noted, 1), freeAddress(t)
	start(t, sabir.Serve(orders(notes)), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"dubbo://" + address: {mapping()}}}))
	p := dial(t, address)
	p.write(frame(0x82, 0, 1, call(t, "note", "Ljava/lang/String;", nil, "one way")))
	if note := <-notes; note != "one way" {
		t.Errorf("got %q", note)
	}
	p.write(frame(0x82, 0, 2, call(t, "nothing", "", nil)))
	p.write(frame(0xc2, 0, 3, call(t, "ping", "", nil)))
	if _, _, id, _ := p.next(); id != 3 {
		t.Errorf("got an answer to %d", id)
	}
}

// A consumer with group = "*" calls the providers of all groups. Where a provider has none, it says "*" to it.
func TestAConsumerOfAnyGroupIsAnswered(t *testing.T) {
	_, address := serving(t, dubbo.Config{})
	p := dial(t, address)
	p.write(frame(0xc2, 0, 1, call(t, "ping", "", map[string]any{"group": "*"})))
	if _, status, _, body := p.next(); status != 20 {
		t.Errorf("the status is %d, with %q", status, body)
	}
}

func TestCallsThatCannotBeMadeAreAnsweredByStatus(t *testing.T) {
	_, address := serving(t, dubbo.Config{})
	p := dial(t, address)
	deep := append([]byte(nil), bytes.Repeat([]byte{0x79}, 1<<20)...) // a million lists within each other
	elsewhere := encode(t, "2.0.2", "com.shop.Elsewhere", "1.0.0", "ping", "", map[string]any{})
	version := encode(t, "2.0.2", "com.shop.OrderService", "2.0.0", "ping", "", map[string]any{})
	head := encode(t, "2.0.2", "com.shop.OrderService", "1.0.0", "list", "Ljava/util/List;")
	for name, c := range map[string]struct {
		flags  byte
		body   []byte
		status byte
	}{
		"an interface that is not in the table":   {0xc2, elsewhere, 60},
		"a version that is not in the table":      {0xc2, version, 60},
		"a method that is not in the table":       {0xc2, call(t, "remove", "", nil), 60},
		"an action that is not named":             {0xc2, call(t, "hidden", "", nil), 60},
		"an overload that is not in the table":    {0xc2, call(t, "get", "D", nil, 1.0), 60},
		"another serialization":                   {0xd7, []byte("x"), 25},
		"no body":                                 {0xc2, nil, 40},
		"a body that is no call":                  {0xc2, []byte("\x00\x00\x00"), 40},
		"a descriptor that is none":               {0xc2, call(t, "ping", "Lx", nil), 40},
		"more parameters than arguments":          {0xc2, call(t, "ping", strings.Repeat("I", 200), nil), 40},
		"more parameters than Java has":           {0xc2, call(t, "ping", strings.Repeat("I", 1000), nil), 40},
		"attachments that are none":               {0xc2, encode(t, "2.0.2", "com.shop.OrderService", "1.0.0", "ping", "", "x"), 40},
		"nesting":                                 {0xc2, append(head, deep...), 40},
		"a list that promises 2^31 elements":      {0xc2, append(head, 0x58, 'I', 0x7f, 0xff, 0xff, 0xff), 40},
		"a generic call of another kind":          {0xc2, call(t, "$invoke", "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;", map[string]any{"generic": "bean"}, "ping", nil, nil), 40},
		"a generic call with less types":          {0xc2, call(t, "$invoke", "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;", nil, "ping", []string{}, []any{1}), 40},
		"a call that is not answered in its time": {0xc2, call(t, "slow", "I", map[string]any{"timeout": "1"}, int32(600_000)), 31},
	} {
		p.write(frame(c.flags, 0, 9, c.body))
		_, status, id, body := p.next()
		var text string
		if err := hessian.Codec.Decode(body, &text); status != c.status || id != 9 || err != nil || text == "" {
			t.Errorf("%s: got the status %d, want %d, with %q, %v", name, status, c.status, text, err)
		}
	}
	p.write(frame(0xc2, 0, 10, call(t, "ping", "", nil)))
	if _, status, id, _ := p.next(); status != 20 || id != 10 {
		t.Errorf("a call after them has the status %d", status)
	}
}

func TestWhatIsNoFrameEndsTheConnection(t *testing.T) {
	_, address := serving(t, dubbo.Config{})
	for _, data := range []string{"GET / HTTP/1.1\r\n\r\n", "ls\r\n", strings.Repeat("\x00", 64)} {
		p := dial(t, address)
		p.write([]byte(data))
		if data == "ls\r\n" {
			p.Conn.(*net.TCPConn).CloseWrite()
		}
		p.ended()
	}
	p := dial(t, address)
	p.write([]byte("\xda\xbb\xc2\x00\x00\x00\x00\x00\x00\x00\x00\x05\x40\x00\x00\x00")) // a body of a gigabyte
	if _, status, id, _ := p.next(); status != 40 || id != 5 {
		t.Errorf("a body of a gigabyte: the status of %d is %d", id, status)
	}
	p.ended()
}

func TestAConsumerThatDoesNotReadIsLeft(t *testing.T) {
	_, address := serving(t, dubbo.Config{})
	p := dial(t, address)
	body := call(t, "bytes", "[B", nil, make([]byte, 4<<20))
	var err error
	for err == nil { // the node reads on, and its answers gather
		_, err = p.Write(frame(0xc2, 0, 1, body))
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		t.Error("the connection goes on")
	}
	other := dial(t, address)
	other.write(frame(0xc2, 0, 2, call(t, "ping", "", nil)))
	if _, status, _, _ := other.next(); status != 20 {
		t.Errorf("another consumer gets the status %d", status)
	}
}

func TestForgedMetadataOfTheRuntimeIsLeftOut(t *testing.T) {
	address, seen := freeAddress(t), make(chan map[string]string, 1)
	s := sabir.NewService("orders")
	sabir.Handle(s, "ping", func(ctx context.Context, _ sabir.Empty) (string, error) {
		seen <- sabir.InfoFromContext(ctx).Metadata
		return "", nil
	})
	start(t, sabir.Serve(s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"dubbo://" + address: {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}}}}))
	p := dial(t, address)
	p.write(frame(0xc2, 0, 1, call(t, "ping", "", map[string]any{"sabir.principal": "root", "$x": "y", "user": "Ada", "age": int32(3), "path": "p", "list": []any{"x"}})))
	p.next()
	if got := <-seen; len(got) != 2 || got["user"] != "Ada" || got["age"] != "3" {
		t.Errorf("the handler sees %v", got)
	}
}

func TestAnAddressThatOthersReachNeedsOpen(t *testing.T) {
	for address, options := range map[string]dubbo.Config{"dubbo://0.0.0.0:0": {}, "dubbo://[::]:0": {}} {
		node := sabir.NewNode(sabir.Serve(orders(nil)), dubbo.Bridge(serveAt(options, map[string][]dubbo.Interface{address: {mapping()}})))
		if err := node.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "set Open") {
			t.Errorf("%s: %v", address, err)
		}
	}
	start(t, sabir.Serve(orders(nil)), dubbo.Bridge(dubbo.Config{Open: true, Serve: map[string][]dubbo.Interface{"dubbo://0.0.0.0:0": {mapping()}}}))
}

func TestOptionsThatCannotBeAreRefusedAtTheStart(t *testing.T) {
	for text, c := range map[string]dubbo.Config{
		"has no Name":       {Serve: map[string][]dubbo.Interface{"dubbo://:0": {{Name: "", Service: "orders"}}}},
		"at least one":      {Serve: map[string][]dubbo.Interface{"dubbo://:0": {}}},
		"is there twice":    {Serve: map[string][]dubbo.Interface{"dubbo://:0": {mapping(), mapping()}}},
		"want an address":   {Serve: map[string][]dubbo.Interface{"tcp://:0": {mapping()}}},
		"name the Methods":  {References: map[string][]dubbo.Interface{"dubbo://10.0.0.9:1": {{Name: "com.shop.A", Service: "a"}}}},
		"two methods":       {References: map[string][]dubbo.Interface{"dubbo://10.0.0.9:1": {{Name: "com.shop.A", Service: "a", Methods: []dubbo.Method{{Name: "x"}, {Name: "y", Action: "x"}}}}}},
		"give each Param":   {Serve: map[string][]dubbo.Interface{"dubbo://:0": {{Name: "com.shop.A", Service: "a", Methods: []dubbo.Method{{Name: "x"}, {Name: "x"}}}}}},
		"want types as":     {Serve: map[string][]dubbo.Interface{"dubbo://:0": {{Name: "com.shop.A", Service: "a", Methods: []dubbo.Method{{Name: "x", Parameters: []string{""}}}}}}},
		"name of the serv":  {Serve: map[string][]dubbo.Interface{"dubbo://:0": {{Name: "com.shop.A", Service: "a b"}}}},
		"want more than 0":  {Heartbeat: -1},
		"name of the actio": {Serve: map[string][]dubbo.Interface{"dubbo://:0": {{Name: "com.shop.A", Service: "a", Methods: []dubbo.Method{{Name: "x y"}}}}}},
	} {
		node := sabir.NewNode(dubbo.Bridge(c))
		if err := node.Start(t.Context()); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAForgedAnswerFailsItsCallOnly(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	conns := make(chan net.Conn, 10)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			conns <- c
		}
	}()
	node := start(t, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{"dubbo://" + listener.Addr().String(): {typed()}}}))
	p := newPeer(t, <-conns)
	ping := sabir.Bind[sabir.Empty, string](node, "orders.ping")
	for name, c := range map[string]struct {
		status byte
		body   []byte
		want   *sabir.Error
	}{
		"no body":               {20, nil, sabir.NewError(sabir.CodeInternal, errname.BadOutput, "")},
		"an unknown kind":       {20, []byte{0x97}, sabir.NewError(sabir.CodeInternal, errname.BadOutput, "")},
		"a value of two":        {20, []byte("\x94\x04pong"), sabir.NewError(sabir.CodeInternal, errname.BadOutput, "")},
		"a number for a text":   {20, []byte{0x91, 0x91}, sabir.NewError(sabir.CodeInternal, errname.BadOutput, "")},
		"an exception of none":  {20, []byte{0x90, 0x91}, sabir.NewError(sabir.CodeInternal, errname.BadOutput, "")},
		"nesting":               {20, append([]byte{0x91}, bytes.Repeat([]byte{0x79}, 1<<20)...), sabir.NewError(sabir.CodeInternal, errname.BadOutput, "")},
		"a timeout":             {31, encode(t, "late"), sabir.ErrDeadlineExceeded},
		"an overload":           {100, encode(t, "full"), sabir.ErrServiceUnavailable},
		"an unknown interface":  {70, encode(t, "x.RemotingException: Not found exported service: y\nat z"), sabir.ErrActionNotFound},
		"a status that is none": {200, []byte{0xff}, sabir.ErrHandlerFailed},
	} {
		failed := make(chan error)
		go func() {
			_, err := ping(t.Context(), sabir.Empty{})
			failed <- err
		}()
		_, _, id, _ := p.next()
		p.write(frame(0x02, 20, id+1000, []byte{0x92}))    // to a call that nobody made
		p.write(frame(0xc2, 0, 77, call(t, "x", "", nil))) // a call back
		p.write(frame(0xe2, 0, 78, []byte("N")))           // a heartbeat
		p.write(frame(0x02, c.status, id, c.body))
		if got := sabir.AsError(<-failed); got.Name != c.want.Name {
			t.Errorf("%s: %v", name, got)
		}
		if _, status, id, _ := p.next(); id != 77 || status != 60 {
			t.Errorf("%s: the call back has the status %d", name, status)
		}
		if flags, _, id, _ := p.next(); id != 78 || flags != 0x22 {
			t.Errorf("%s: the heartbeat is not answered", name)
		}
	}
	failed := make(chan error)
	go func() {
		_, err := ping(t.Context(), sabir.Empty{})
		failed <- err
	}()
	p.next()
	p.write([]byte("\xda\xbb\x02\x14\x00\x00\x00\x00\x00\x00\x00\x01\x7f\xff\xff\xff"))
	if err := <-failed; sabir.AsError(err).Name != sabir.ErrLinkLost.Name {
		t.Errorf("an answer of two gigabytes: %v", err)
	}
	p = newPeer(t, <-conns) // it connects again
	go func() {
		for {
			_, err := ping(t.Context(), sabir.Empty{})
			if !errors.Is(err, sabir.ErrServiceUnavailable) {
				failed <- err
				return
			}
		}
	}()
	_, _, id, _ := p.next()
	p.write(frame(0x02, 20, id, []byte("\x91\x04pong")))
	if err := <-failed; err != nil {
		t.Error(err)
	}
	p.write(frame(0xa2, 0, 1, []byte("\x01R"))) // it takes no more calls
	p.write(frame(0xe2, 0, 2, []byte("N")))
	p.next() // the answer to the heartbeat, which was behind that
	if _, err := ping(t.Context(), sabir.Empty{}); !errors.Is(err, sabir.ErrServiceUnavailable) {
		t.Errorf("a call of a provider that is stopping: %v", err)
	}
}
