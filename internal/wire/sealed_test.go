package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/race"
	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/transport"
)

// sealedEnds is both ends of a handshake with a key, with a man in the middle: what the dialling side sends comes out of sent, and what goes
// into received is what the accepting side receives.
type sealedEnds struct {
	dialled, accepted outcome
	sent, received    net.Conn
}

func newSealedEnds(t *testing.T, refusals *seal.Refusals) sealedEnds {
	t.Helper()
	atDialler, sent := conns(t, "tcp")
	received, atAcceptor := conns(t, "tcp")
	for _, conn := range []net.Conn{atDialler, sent, received, atAcceptor} {
		t.Cleanup(func() { conn.Close() })
	}
	back := make(chan struct{})
	go func() { // the answers are not touched
		io.Copy(sent, received)
		close(back)
	}()
	t.Cleanup(func() { received.Close(); sent.Close(); <-back })
	accepted := make(chan outcome, 1)
	go func() {
		conn, peer, err := Handshake(t.Context(), atAcceptor, Config{Node: "b", Keys: keysOf(testKey), Refusals: refusals}, false, "")
		accepted <- outcome{conn, peer, err}
	}()
	handshakeOver := make(chan outcome, 1)
	go func() {
		conn, peer, err := Handshake(t.Context(), atDialler, Config{Node: "a", Keys: keysOf(testKey)}, true, "")
		handshakeOver <- outcome{conn, peer, err}
	}()
	passTurns(t, sent, received)
	e := sealedEnds{dialled: <-handshakeOver, accepted: <-accepted, sent: sent, received: received}
	if e.dialled.err != nil || e.accepted.err != nil {
		t.Fatal(e.dialled.err, e.accepted.err)
	}
	return e
}

// passTurns passes on what the dialling side sends in its handshake.
func passTurns(t *testing.T, from, to net.Conn) {
	t.Helper()
	io.CopyN(to, from, preambleSize)
	for range 2 {
		head := make([]byte, messageHeader)
		io.ReadFull(from, head)
		to.Write(head)
		io.CopyN(to, from, int64(binary.LittleEndian.Uint32(head[1:])))
	}
}

// record reads one record of the dialling side.
func (e sealedEnds) record(t *testing.T) []byte {
	t.Helper()
	head := make([]byte, recordHeader)
	if _, err := io.ReadFull(e.sent, head); err != nil {
		t.Fatal(err)
	}
	record := append(head, make([]byte, binary.LittleEndian.Uint32(head))...)
	if _, err := io.ReadFull(e.sent, record[recordHeader:]); err != nil {
		t.Fatal(err)
	}
	return record
}

func TestNothingThatFollowsTheHandshakeCanBeReadOnTheWay(t *testing.T) {
	e := newSealedEnds(t, nil)
	if !e.dialled.peer.Sealed || !e.accepted.peer.Sealed {
		t.Error("the two do not know that their link is sealed")
	}
	go e.dialled.conn.Write([]byte("pay 100 to Alice"))
	record := e.record(t)
	if bytes.Contains(record, []byte("pay")) || bytes.Contains(record, []byte("Alice")) {
		t.Errorf("%q goes over the connection", record)
	}
	e.received.Write(record)
	got := make([]byte, 64)
	if n, err := e.accepted.conn.Read(got); err != nil || string(got[:n]) != "pay 100 to Alice" {
		t.Errorf("%q, %v came", got[:n], err)
	}
}

// TestWhoIsInTheMiddleCanOnlyEndTheConnection plays somebody who passes on other records than were sent: the reader gets the true ones up to
// there, then an error, and never another byte.
func TestWhoIsInTheMiddleCanOnlyEndTheConnection(t *testing.T) {
	one, two, three := []byte("first|"), []byte("second|"), []byte("third|")
	flip := func(record []byte, at int) []byte {
		record = slices.Clone(record)
		record[at] ^= 1
		return record
	}
	for _, tc := range []struct {
		name   string
		change func(first, second, third []byte) [][]byte
		reads  string // before the error
		noted  uint64
	}{
		{"nothing is changed", func(a, b, c []byte) [][]byte { return [][]byte{a, b, c} }, "first|second|third|", 0},
		{"a bit of the text is changed", func(a, b, c []byte) [][]byte { return [][]byte{a, flip(b, 6), c} }, "first|", 1},
		{"a bit of the length is changed", func(a, b, c []byte) [][]byte { return [][]byte{a, flip(b, 0), c} }, "first|", 1},
		{"the last bit is changed", func(a, b, c []byte) [][]byte { return [][]byte{a, flip(b, len(b)-1), c} }, "first|", 1},
		{"a record comes twice", func(a, b, c []byte) [][]byte { return [][]byte{a, a, b, c} }, "first|", 1},
		{"an old record comes again", func(a, b, c []byte) [][]byte { return [][]byte{a, b, a, c} }, "first|second|", 1},
		{"a record is left out", func(a, b, c []byte) [][]byte { return [][]byte{a, c} }, "first|", 1},
		{"two records change places", func(a, b, c []byte) [][]byte { return [][]byte{b, a, c} }, "", 1},
		{"a record is put in between", func(a, b, c []byte) [][]byte { return [][]byte{a, forged("MALLORY"), b} }, "first|", 1},
		{"frames are put in between as they are", func(a, b, c []byte) [][]byte {
			return [][]byte{a, appendFrame(nil, 0, kindPost, 0, []byte("\x01MALLORY")), b}
		}, "first|", 1},
		{"a length of 4 GiB", func(a, b, c []byte) [][]byte { return [][]byte{a, {0xff, 0xff, 0xff, 0xff}, b} }, "first|", 1},
		{"a record is cut off", func(a, b, c []byte) [][]byte { return [][]byte{a, b[:len(b)-3]} }, "first|", 0},
		{"the end is cut off", func(a, b, c []byte) [][]byte { return [][]byte{a, b} }, "first|second|", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log bytes.Buffer
			refusals := seal.NewRefusals(slog.New(slog.NewTextHandler(&log, nil)))
			e := newSealedEnds(t, refusals)
			var records [][]byte
			for _, text := range [][]byte{one, two, three} {
				go e.dialled.conn.Write(text)
				records = append(records, e.record(t))
			}
			e.received.Write(slices.Concat(tc.change(records[0], records[1], records[2])...))
			e.received.(*net.TCPConn).CloseWrite()
			got, err := io.ReadAll(byteReader{e.accepted.conn})
			if string(got) != tc.reads {
				t.Errorf("%q was read, want %q", got, tc.reads)
			}
			if refused := errors.Is(err, seal.ErrUnauthentic); refused != (tc.noted > 0) || refusals.Count() != tc.noted {
				t.Errorf("it ends with %v, %d refusals are counted, want %d", err, refusals.Count(), tc.noted)
			}
			if lines := strings.Count(log.String(), "\n"); lines != int(tc.noted) {
				t.Errorf("%d lines are logged: %s", lines, &log)
			}
			if tc.noted > 0 {
				e.received.(*net.TCPConn).Write(records[2]) // whatever comes later
				if n, err := e.accepted.conn.Read(make([]byte, 64)); n > 0 || !errors.Is(err, seal.ErrUnauthentic) {
					t.Errorf("after the refusal it reads %d bytes, %v", n, err)
				}
			}
		})
	}
}

// byteReader reads byte by byte, so that what was opened before a refusal is seen.
type byteReader struct{ io.Reader }

func (r byteReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:1]) }

// forged is a record as somebody without the key can make it.
func forged(text string) []byte {
	record := binary.LittleEndian.AppendUint32(nil, uint32(len(text)+seal.Overhead))
	return append(append(record, text...), make([]byte, seal.Overhead)...)
}

func TestALinkIsSealedUnlessBothSidesAreContentWithoutOrTLSDoesIt(t *testing.T) {
	certificates := httpCertificate(t)
	for _, tc := range []struct {
		name           string
		dialler        bool // plain
		acceptor       bool
		overTLS        bool
		keyed          bool
		sealed, record bool
	}{
		{"neither is plain", false, false, false, true, true, true},
		{"the dialling side is plain", true, false, false, true, true, true},
		{"the accepting side is plain", false, true, false, true, true, true},
		{"both are plain", true, true, false, true, false, false},
		{"over TLS", false, false, true, true, true, false},
		{"both are plain over TLS", true, true, true, true, true, false},
		{"without a key", false, false, false, false, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			address, server, client := "tcp://127.0.0.1:0", transport.Config{}, transport.Config{}
			if tc.overTLS {
				address, server, client = "tls://127.0.0.1:0", transport.Config{TLS: certificates}, transport.Config{TLS: &tls.Config{InsecureSkipVerify: true}}
			}
			atDialler, atAcceptor := over(t, address, server, client)
			var key []byte
			if tc.keyed {
				key = testKey
			}
			dialler, acceptor := recorded(key, true), recorded(key, false)
			dialler.Plain, acceptor.Plain = tc.dialler, tc.acceptor
			dialled, accepted := meet(t, atDialler, atAcceptor, dialler, acceptor)
			for _, end := range []outcome{dialled, accepted} {
				if end.err != nil {
					t.Fatal(end.err)
				}
				_, record := end.conn.(*sealedConn)
				if end.peer.Sealed != tc.sealed || record != tc.record {
					t.Errorf("sealed %t, by records %t; want %t, %t", end.peer.Sealed, record, tc.sealed, tc.record)
				}
			}
		})
	}
}

// While keys are changed, nodes meet as long as they have one in common.
func TestNodesWithOldNewAndBothKeysMeet(t *testing.T) {
	keys := map[string]seal.Keys{"old": keysOf(otherKey), "new, old": keysOf(testKey, otherKey), "old, new": keysOf(otherKey, testKey), "new": keysOf(testKey)}
	for dialler, diallers := range keys {
		for acceptor, acceptors := range keys {
			t.Run(dialler+" dials "+acceptor, func(t *testing.T) {
				atDialler, atAcceptor := pipe(t)
				dialled, accepted := meet(t, atDialler, atAcceptor, side{Config: Config{Node: "a", Keys: diallers}}, side{Config: Config{Node: "b", Keys: acceptors}})
				common := !(dialler == "old" && acceptor == "new" || dialler == "new" && acceptor == "old")
				if common && (dialled.err != nil || accepted.err != nil) || !common && (reasonOf(dialled.err) != ReasonKey || reasonOf(accepted.err) != ReasonKey) {
					t.Errorf("dialling side: %v\naccepting side: %v", dialled.err, accepted.err)
				}
			})
		}
	}
}

// newSealedPair is newPair after a handshake with a key.
func newSealedPair(t testing.TB, network string, client, server *node, key []byte, change ...func(client, server *Config)) pair {
	t.Helper()
	a, b := conns(t, network)
	cc, sc := Config{Node: "client", Keys: keysOf(key)}, Config{Node: "server", Keys: keysOf(key)}
	for _, f := range change {
		f(&cc, &sc)
	}
	accepted := make(chan outcome, 1)
	go func() {
		conn, peer, err := Handshake(context.Background(), b, sc, false, "")
		accepted <- outcome{conn, peer, err}
	}()
	conn, peer, err := Handshake(context.Background(), a, cc, true, "")
	other := <-accepted
	if err != nil || other.err != nil {
		t.Fatal(err, other.err)
	}
	p := pair{New(conn, peer, cc, client), New(other.conn, other.peer, sc, server)}
	t.Cleanup(func() {
		p.client.Close(nil)
		p.server.Close(nil)
		<-p.client.finished
		<-p.server.finished
	})
	return p
}

func TestValuesOfEverySizeGoOverASealedLink(t *testing.T) {
	for _, network := range []string{"tcp", "unix", "mem"} {
		t.Run(network, func(t *testing.T) {
			server := newNode()
			server.serve["echo"] = echo
			p := newSealedPair(t, network, newNode(), server, testKey)
			for _, size := range []int{0, 1, 100, chunkSize - 1, chunkSize, chunkSize + 1, 3*chunkSize + 7, 5 << 20} {
				value := make([]byte, size)
				for i := range value {
					value[i] = byte(i * 7)
				}
				got, err := call(t.Context(), p.client, "echo", value)
				if err != nil || !bytes.Equal(got, value) {
					t.Errorf("%d bytes: %d came back, %v", size, len(got), err)
				}
			}
		})
	}
}

func TestASealedCallAllocatesNoMoreThanAPlainOne(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	per := func(key []byte) float64 {
		server := newNode()
		server.serve["echo"] = echo
		p := newSealedPair(t, "tcp", newNode(), server, key)
		value := make([]byte, 677)
		route := p.client.Declare(CallRoute, "echo", "bytes")
		return testing.AllocsPerRun(2000, func() {
			c := p.client.Call(route)
			if err := c.Do(t.Context(), append(AppendRef(c.Buf(), 0), value...)); err != nil {
				t.Fatal(err)
			}
			c.Free()
		})
	}
	if plain, sealed := per(nil), per(testKey); sealed > plain {
		t.Errorf("a sealed call allocates %v times, a plain one %v times", sealed, plain)
	}
}

// FuzzRecords holds that nobody who has not the keys of a connection gets a byte to its reader, or makes it take memory.
func FuzzRecords(f *testing.F) {
	f.Add(forged("MALLORY"))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Add(appendFrame(nil, 0, kindPost, 0, []byte("\x01MALLORY")))
	one, two := net.Pipe()
	done := make(chan outcome, 1)
	go func() { done <- recorded(testKey, false).handshake(context.Background(), two, false) }()
	dialled := recorded(testKey, true).handshake(context.Background(), one, true)
	if other := <-done; dialled.err != nil || other.err != nil {
		f.Fatal(dialled.err, other.err)
	}
	channel := seal.Channel{In: dialled.conn.(*sealedConn).in}
	f.Fuzz(func(t *testing.T, data []byte) {
		own := channel
		c := newSealedConn(eofConn{bytes.NewReader(data)}, &own, nil)
		got, err := io.ReadAll(c)
		if len(got) > 0 {
			t.Errorf("%q was read", got)
		}
		if err != nil && !errors.Is(err, seal.ErrUnauthentic) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// eofConn is a connection that ends after some bytes.
type eofConn struct{ *bytes.Reader }

func (eofConn) Write(p []byte) (int, error)      { return len(p), nil }
func (eofConn) Close() error                     { return nil }
func (eofConn) LocalAddr() net.Addr              { return nil }
func (eofConn) RemoteAddr() net.Addr             { return nil }
func (eofConn) SetDeadline(time.Time) error      { return nil }
func (eofConn) SetReadDeadline(time.Time) error  { return nil }
func (eofConn) SetWriteDeadline(time.Time) error { return nil }
