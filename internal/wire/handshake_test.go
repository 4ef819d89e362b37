package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/mem"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

var (
	testKey  = []byte("0123456789abcdef0123456789abcdef")
	otherKey = []byte("fedcba9876543210fedcba9876543210")
)

// outcome is the result of one side of a handshake.
type outcome struct {
	conn net.Conn // to go on with
	peer Peer
	err  error
}

// ephemeral is the random numbers of a side's keys: bytes that count up.
type ephemeral struct {
	dialled bool
	n       int
}

func (e *ephemeral) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e.n + 1)
		if !e.dialled {
			p[i] += 0x40
		}
		e.n++
	}
	return len(p), nil
}

func keysOf(keys ...[]byte) seal.Keys {
	var list []string
	for _, key := range keys {
		list = append(list, string(key))
	}
	return seal.NewKeys(list...)
}

// side is the setup of one side of a handshake.
type side struct {
	Config
	purpose        Purpose
	oldest, newest uint8 // 0: this package's
}

func (s side) handshake(ctx context.Context, conn net.Conn, dialled bool) outcome {
	own := preamble{oldest: oldestVersion, newest: newestVersion}
	if s.newest != 0 {
		own.oldest, own.newest = s.oldest, s.newest
	}
	own.nonce = testNonce(dialled)
	secured, peer, err := handshake(ctx, conn, s.Config, dialled, s.purpose, own, &ephemeral{dialled: dialled})
	return outcome{secured, peer, err}
}

// testNonce is 0x80 to 0x9f for the dialling side and 0xa0 to 0xbf for the accepting one.
func testNonce(dialled bool) (nonce [nonceSize]byte) {
	for i := range nonce {
		nonce[i] = byte(0x80 + i)
		if !dialled {
			nonce[i] += nonceSize
		}
	}
	return nonce
}

// meet runs both sides of a handshake over the two ends of a connection.
func meet(t *testing.T, atDialler, atAcceptor net.Conn, dialler, acceptor side) (dialled, accepted outcome) {
	t.Helper()
	done := make(chan outcome, 1)
	go func() { done <- acceptor.handshake(t.Context(), atAcceptor, false) }()
	dialled = dialler.handshake(t.Context(), atDialler, true)
	return dialled, <-done
}

func pipe(t *testing.T) (atDialler, atAcceptor net.Conn) {
	atDialler, atAcceptor = net.Pipe()
	t.Cleanup(func() { atDialler.Close(); atAcceptor.Close() })
	return atDialler, atAcceptor
}

// over returns both ends of a connection of a transport.
func over(t *testing.T, address string, server, client transport.Config) (atDialler, atAcceptor net.Conn) {
	t.Helper()
	listener, err := transport.Listen(t.Context(), address, server)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, _ := listener.Accept()
		accepted <- conn
	}()
	// The dialler of tls:// waits for the other end's part, which a read there does.
	dialled := make(chan net.Conn, 1)
	go func() {
		conn, err := transport.Dial(t.Context(), listener.Addr(), client)
		if err != nil {
			t.Error(err)
		}
		dialled <- conn
	}()
	atAcceptor = <-accepted
	if atAcceptor == nil {
		t.Fatal("nothing accepted")
	}
	if c, ok := atAcceptor.(interface{ Handshake() error }); ok {
		if err := c.Handshake(); err != nil {
			t.Fatal(err)
		}
	}
	if atDialler = <-dialled; atDialler == nil {
		t.FailNow()
	}
	t.Cleanup(func() { atDialler.Close(); atAcceptor.Close() })
	return atDialler, atAcceptor
}

func TestBothSidesLearnTheIdentityOfTheOther(t *testing.T) {
	certificates := httpCertificate(t)
	ends := map[string]func(t *testing.T) (net.Conn, net.Conn){
		"pipe": pipe,
		"mem": func(t *testing.T) (net.Conn, net.Conn) {
			return over(t, "mem://handshake", transport.Config{}, transport.Config{})
		},
		"tcp": func(t *testing.T) (net.Conn, net.Conn) {
			return over(t, "tcp://127.0.0.1:0", transport.Config{}, transport.Config{})
		},
		"tls": func(t *testing.T) (net.Conn, net.Conn) {
			return over(t, "tls://127.0.0.1:0", transport.Config{TLS: certificates}, transport.Config{TLS: &tls.Config{InsecureSkipVerify: true}})
		},
	}
	for name, connect := range ends {
		for _, key := range [][]byte{nil, testKey} {
			t.Run(name+map[bool]string{true: "/with a key"}[key != nil], func(t *testing.T) {
				atDialler, atAcceptor := connect(t)
				dialled, accepted := meet(t, atDialler, atAcceptor,
					side{Config: Config{Node: "a", Cluster: "c", Keys: keysOf(key), NodeInfo: []byte(`{"zone":"x"}`), Compression: S2, Limits: Limits{Calls: 7}}, purpose: ForGossip},
					side{Config: Config{Node: "b", Cluster: "c", Keys: keysOf(key), Compression: S2}})
				if dialled.err != nil || accepted.err != nil {
					t.Fatalf("dialling side: %v\naccepting side: %v", dialled.err, accepted.err)
				}
				d, a := dialled.peer, accepted.peer
				if d.Node != "b" || d.Cluster != "c" || d.NodeInfo != nil || !d.Dialled || d.Purpose != ForGossip || d.Version != 3 ||
					d.Limits.Calls != DefaultCalls || d.Compression != S2 || !slices.Equal(d.Features, []string{"compress-s2", groupsFeature}) || d.Keyed != (key != nil) {
					t.Errorf("the dialling side found %+v", d)
				}
				if a.Node != "a" || a.Cluster != "c" || string(a.NodeInfo) != `{"zone":"x"}` || a.Dialled || a.Purpose != ForGossip || a.Version != 3 ||
					a.Limits.Calls != 7 || a.Limits.Message != DefaultMessage || a.Compression != S2 || a.Keyed != (key != nil) {
					t.Errorf("the accepting side found %+v", a)
				}
			})
		}
	}
}

// TestRefusals holds that both sides end with the same reason and a text with the remedy, whichever of them refused.
func TestRefusals(t *testing.T) {
	node := func(name string) side { return side{Config: Config{Node: name, Cluster: "c"}} }
	with := func(name string, change func(*side)) side {
		s := node(name)
		change(&s)
		return s
	}
	refuse := func(Peer) error { return errors.New("the node is leaving") }
	for _, tc := range []struct {
		name              string
		dialler, acceptor side
		reason            Reason
		detail            string
		reported          string // "dialler" or "acceptor" for the side that got it from the other; "" where both saw it
	}{
		{"wrong key", with("a", func(s *side) { s.Keys = keysOf(otherKey) }), with("b", func(s *side) { s.Keys = keysOf(testKey) }),
			ReasonKey, "the two have different cluster keys", "dialler"},
		{"key on the accepting side only", node("a"), with("b", func(s *side) { s.Keys = keysOf(testKey) }),
			ReasonKeyNeeded, "the accepting side has a cluster key and the dialling side none: give both the same key", ""},
		{"key on the dialling side only", with("a", func(s *side) { s.Keys = keysOf(testKey) }), node("b"),
			ReasonKeyNeeded, "the dialling side has a cluster key and the accepting side none: give both the same key", ""},
		{"cluster name differs", with("a", func(s *side) { s.Cluster = "test" }), node("b"),
			ReasonCluster, `the dialling side is of cluster "test", the accepting side of "c"`, "dialler"},
		{"cluster name differs, same key", with("a", func(s *side) { s.Cluster, s.Keys = "test", keysOf(testKey) }), with("b", func(s *side) { s.Keys = keysOf(testKey) }),
			ReasonCluster, `"test"`, "dialler"},
		{"same node id", node("a"), node("a"),
			ReasonSameNode, `both are called "a"`, "dialler"},
		{"same node id, another run", with("a", func(s *side) { s.NodeInfo = []byte(`{"instance":1}`) }), with("a", func(s *side) { s.NodeInfo = []byte(`{"instance":2}`) }),
			ReasonSameNode, `both are called "a"`, "dialler"},
		{"the node itself", with("a", func(s *side) { s.NodeInfo = []byte(`{"instance":1,"zone":"\u0061"}`) }), with("a", func(s *side) { s.NodeInfo = []byte(`{"instance":1,"zone":"\u0061"}`) }),
			ReasonSelf, `leads back to "a"`, "dialler"},
		{"dialling side too old", with("a", func(s *side) { s.oldest, s.newest = 1, 2 }), with("b", func(s *side) { s.oldest, s.newest = 3, 4 }),
			ReasonVersion, "the dialling side speaks versions 1 to 2, the accepting side 3 to 4: update the older one", ""},
		{"accepting side too old", with("a", func(s *side) { s.oldest, s.newest = 3, 4 }), with("b", func(s *side) { s.oldest, s.newest = 1, 2 }),
			ReasonVersion, "the dialling side speaks versions 3 to 4, the accepting side 1 to 2: update the older one", ""},
		{"a node of version 2", with("a", func(s *side) { s.oldest, s.newest = 2, 2 }), node("b"),
			ReasonVersion, "the dialling side speaks versions 2 to 2, the accepting side 3 to 3: update the older one", ""},
		{"purpose of a later version", with("a", func(s *side) { s.purpose = "mirror" }), node("b"),
			ReasonPurpose, `the dialling side wants "mirror", which the accepting side does not know`, "dialler"},
		{"purpose served elsewhere", with("a", func(s *side) { s.purpose = ForGossip }), with("b", func(s *side) { s.purpose = ForLink }),
			ReasonPurpose, `the dialling side wants "gossip", the accepting side serves "link" here`, "dialler"},
		{"owner of the accepting side", node("a"), with("b", func(s *side) { s.Admit = refuse }),
			ReasonRefused, "the node is leaving", "dialler"},
		{"owner of the dialling side", with("a", func(s *side) { s.Admit = refuse }), node("b"),
			ReasonRefused, "the node is leaving", "acceptor"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			atDialler, atAcceptor := pipe(t)
			dialled, accepted := meet(t, atDialler, atAcceptor, tc.dialler, tc.acceptor)
			for side, err := range map[string]error{"dialler": dialled.err, "acceptor": accepted.err} {
				e, ok := errors.AsType[*HandshakeError](err)
				if !ok {
					t.Fatalf("%s: %v is no *HandshakeError", side, err)
				}
				if e.Reason != tc.reason || !strings.Contains(e.Detail, tc.detail) || e.ByPeer != (tc.reported == side) {
					t.Errorf("%s: reason %q, by peer %t, detail %q", side, e.Reason, e.ByPeer, e.Detail)
				}
				if !strings.Contains(e.Error(), string(tc.reason)) || !strings.Contains(e.Error(), tc.detail) {
					t.Errorf("%s: the error says only %q", side, e)
				}
				for _, key := range [][]byte{testKey, otherKey} {
					if strings.Contains(e.Error(), string(key[:8])) {
						t.Errorf("%s: the key is in the error %q", side, e)
					}
				}
			}
			if _, err := atDialler.Write([]byte{0}); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("the dialling side left the connection open: %v", err)
			}
		})
	}
}

func TestTwoDiallersOrTwoAcceptorsAreRefused(t *testing.T) {
	one, two := net.Pipe()
	done := make(chan outcome, 1)
	// The peer is a dialler that lets us speak first, which two net.Pipe ends need.
	go func() {
		io.ReadFull(two, make([]byte, preambleSize))
		_, err := two.Write(preamble{oldest: 3, newest: 3, flags: flagDialled}.append(nil))
		done <- outcome{err: err}
	}()
	got := side{Config: Config{Node: "a"}}.handshake(t.Context(), one, true)
	if e, ok := errors.AsType[*HandshakeError](got.err); !ok || e.Reason != ReasonRole {
		t.Errorf("two diallers: %v", got.err)
	}
	if peer := <-done; peer.err != nil {
		t.Fatal(peer.err)
	}

	script := newScript(preamble{oldest: 3, newest: 3}.append(nil))
	got = side{Config: Config{Node: "a"}}.handshake(t.Context(), script, false)
	if e, ok := errors.AsType[*HandshakeError](got.err); !ok || e.Reason != ReasonRole {
		t.Errorf("two acceptors: %v", got.err)
	}
}

func TestAnotherProtocolIsNamed(t *testing.T) {
	for _, tc := range []struct {
		name, bytes string
		dialled     bool
	}{
		{"an HTTP client calls", "GET / ", false},
		{"a TLS client calls", "\x16\x03\x01\x02\x00\x01", false},
		{"an HTTP server answers", "HTTP/1.1 400 Bad Request\r\n", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			script := newScript([]byte(tc.bytes))
			got := side{Config: Config{Node: "a"}}.handshake(t.Context(), script, tc.dialled)
			e, ok := errors.AsType[*HandshakeError](got.err)
			if !ok || e.Reason != ReasonNotSabir || !strings.Contains(e.Detail, "is this the port of another protocol") {
				t.Fatalf("error %v", got.err)
			}
			if !tc.dialled && script.written.Len() > 0 {
				t.Errorf("it was answered with %q", script.written.Bytes())
			}
		})
	}
}

func TestNothingAfterTheHandshakeIsRead(t *testing.T) {
	for _, key := range [][]byte{nil, testKey} {
		dialler, acceptor := record(t, key)
		frames := []byte("the first frames, sent in the same write as the end of the handshake")
		for _, tc := range []struct {
			dialled  bool
			received []byte
		}{{false, dialler}, {true, acceptor}} {
			script := newScript(slices.Concat(tc.received, frames))
			got := recorded(key, tc.dialled).handshake(t.Context(), script, tc.dialled)
			if got.err != nil {
				t.Fatal(got.err)
			}
			if rest, _ := io.ReadAll(script.received); !bytes.Equal(rest, frames) {
				t.Errorf("dialled %t: left for the link: %q", tc.dialled, rest)
			}
		}
	}
}

func TestTheConnectionIsLeftWithoutADeadline(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		atDialler, atAcceptor := net.Pipe()
		defer atDialler.Close()
		defer atAcceptor.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		done := make(chan outcome, 1)
		go func() { done <- side{Config: Config{Node: "a"}}.handshake(ctx, atAcceptor, false) }()
		got := side{Config: Config{Node: "b"}}.handshake(ctx, atDialler, true)
		if other := <-done; got.err != nil || other.err != nil {
			t.Fatal(got.err, other.err)
		}
		cancel()
		time.Sleep(time.Hour) // of the bubble's clock
		go atDialler.Write([]byte("late"))
		if _, err := io.ReadFull(atAcceptor, make([]byte, 4)); err != nil {
			t.Errorf("after an hour: %v", err)
		}
	})
}

// TestPeerThatStopsEndsAtTheTimeout plays peers that stop at each step, or send a byte a second, or do not read.
func TestPeerThatStopsEndsAtTheTimeout(t *testing.T) {
	dialler, acceptor := record(t, testKey)
	for _, tc := range []struct {
		name     string
		dialled  bool
		received []byte
		drip     bool
		deaf     bool
	}{
		{name: "caller says nothing"},
		{name: "caller stops in its preamble", received: dialler[:20]},
		{name: "caller stops after its preamble", received: dialler[:preambleSize]},
		{name: "caller stops in its hello", received: dialler[:preambleSize+40]},
		{name: "caller stops before its ok", received: dialler[:len(dialler)-messageHeader]},
		{name: "caller sends a byte a second", received: dialler, drip: true},
		{name: "caller does not read", received: dialler, deaf: true},
		{name: "called node says nothing", dialled: true},
		{name: "called node stops after its preamble", dialled: true, received: acceptor[:preambleSize]},
		{name: "called node stops before its ok", dialled: true, received: acceptor[:len(acceptor)-messageHeader]},
		{name: "called node does not read", dialled: true, deaf: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				var peer sync.WaitGroup
				defer peer.Wait()
				defer theirs.Close()
				if !tc.deaf {
					peer.Go(func() { io.Copy(io.Discard, theirs) })
				}
				peer.Go(func() {
					step := len(tc.received)
					if tc.drip {
						step = 1
					}
					for part := range slices.Chunk(tc.received, max(step, 1)) {
						if _, err := theirs.Write(part); err != nil {
							return
						}
						if tc.drip {
							time.Sleep(time.Second) // of the bubble's clock
						}
					}
				})
				start := time.Now()
				s := recorded(testKey, tc.dialled)
				s.HandshakeTimeout = 3 * time.Second
				got := s.handshake(t.Context(), ours, tc.dialled)
				e, ok := errors.AsType[*HandshakeError](got.err)
				if !ok || e.Reason != ReasonTimeout || !errors.Is(e, os.ErrDeadlineExceeded) || !e.Temporary() {
					t.Fatalf("error %v", got.err)
				}
				if took := time.Since(start); took != 3*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func TestContextEndsTheHandshake(t *testing.T) {
	for _, tc := range []struct {
		name   string
		ctx    func(context.Context) (context.Context, context.CancelFunc)
		reason Reason
		err    error
		after  time.Duration
	}{
		{"cancelled before", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}, ReasonCanceled, context.Canceled, 0},
		{"cancelled meanwhile", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, ReasonCanceled, context.Canceled, time.Second},
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 2*time.Second)
		}, ReasonTimeout, context.DeadlineExceeded, 2 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer theirs.Close()
				ctx, cancel := tc.ctx(t.Context())
				defer cancel()
				start := time.Now()
				got := side{Config: Config{Node: "a"}}.handshake(ctx, ours, false)
				e, ok := errors.AsType[*HandshakeError](got.err)
				if !ok || e.Reason != tc.reason || !errors.Is(e, tc.err) || time.Since(start) != tc.after {
					t.Errorf("after %v: %v", time.Since(start), got.err)
				}
			})
		})
	}
}

func TestPeerThatHangsUpIsALostConnection(t *testing.T) {
	ours, theirs := pipe(t)
	go func() {
		theirs.Write([]byte(magic))
		theirs.Close()
	}()
	got := side{Config: Config{Node: "a"}}.handshake(t.Context(), ours, false)
	if e, ok := errors.AsType[*HandshakeError](got.err); !ok || e.Reason != ReasonLost || !e.Temporary() || !errors.Is(e, io.EOF) {
		t.Errorf("error %v", got.err)
	}
}

// alerted is a connection of TLS whose other side refuses the certificate that it was shown.
type alerted struct{ net.Conn }

func (alerted) Read([]byte) (int, error) {
	return 0, &net.OpError{Op: "remote error", Err: tls.AlertError(42)}
}

func TestAHandshakeThatThePeerEndsForACertificateNamesTheCertificate(t *testing.T) {
	ours, theirs := pipe(t)
	go io.Copy(io.Discard, theirs)
	got := side{Config: Config{Node: "a"}}.handshake(t.Context(), alerted{ours}, true)
	if e, ok := errors.AsType[*HandshakeError](got.err); !ok || e.Reason != ReasonLost || !strings.Contains(e.Error(), "may not accept this node's certificate, and its log says why") {
		t.Errorf("error %v", got.err)
	}
}

func TestWrongConfigurationIsAnErrorBeforeAnythingIsSent(t *testing.T) {
	script := newScript(nil)
	got := side{Config: Config{Node: "a", Keys: seal.NewKeys("short")}}.handshake(t.Context(), script, true)
	if e, ok := errors.AsType[*HandshakeError](got.err); !ok || e.Reason != ReasonConfig || script.written.Len() > 0 {
		t.Errorf("error %v, %d bytes sent", got.err, script.written.Len())
	}
}

func TestMessagesOfThePeerAreBounded(t *testing.T) {
	first := preamble{oldest: 3, newest: 3, flags: flagDialled}.append(nil)
	for _, tc := range []struct {
		name   string
		data   []byte
		detail string
	}{
		{"hello of 4 GiB", []byte{messageHello, 0xff, 0xff, 0xff, 0xff}, "4294967295 bytes, at most 65536"},
		{"hello of 64 KiB and one", []byte{messageHello, 1, 0, 1, 0}, "65537 bytes, at most 65536"},
		{"refusal of 1 MiB", []byte{messageRefusal, 0, 0, 16, 0}, "1048576 bytes, at most 1025"},
		{"sealed message instead of hello", []byte{messageSealed, 32, 0, 0, 0}, "message of kind 2 instead of 1"},
		{"empty refusal", []byte{messageRefusal, 0, 0, 0, 0}, "an empty refusal"},
		{"hello that is no JSON", appendMessage(nil, messageHello, []byte("{\x1b]0;")), "not the JSON it should be"},
		{"hello with a name twice", appendMessage(nil, messageHello, []byte(`{"node":"a","node":"b"}`)), "not the JSON it should be"},
		{"hello without a node", appendMessage(nil, messageHello, []byte(`{"cluster":"c"}`)), "names no node"},
		{"hello without limits", appendMessage(nil, messageHello, []byte(`{"node":"n"}`)), "limit Message is 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			script := newScript(append(first[:len(first):len(first)], tc.data...))
			var got outcome
			grown := allocated(func() { got = side{Config: Config{Node: "a"}}.handshake(t.Context(), script, false) })
			e, ok := errors.AsType[*HandshakeError](got.err)
			if !ok || e.Reason != ReasonMalformed || !strings.Contains(e.Detail, tc.detail) {
				t.Fatalf("error %v", got.err)
			}
			if strings.ContainsFunc(e.Error(), isControl) {
				t.Errorf("a control character of the peer is in %q", e)
			}
			if grown > 256<<10 {
				t.Errorf("it took %d bytes of memory", grown)
			}
		})
	}
}

func TestRefusalOfALaterVersionIsShownAsText(t *testing.T) {
	e := parseRefusal([]byte("\xc8too \x1b[31mloud\xff\n"))
	if e.Reason != ReasonRefused || e.Detail != "too [31mloud" || !e.ByPeer {
		t.Errorf("%+v", e)
	}
}

func TestRefusalTextIsCutOnTheWire(t *testing.T) {
	message := appendRefusal(nil, &HandshakeError{Reason: ReasonRefused, Detail: strings.Repeat("é", 4<<10)})
	if len(message) > messageHeader+maxRefusal || len(message) < maxRefusal-8 || !strings.HasSuffix(string(message), "é") {
		t.Errorf("%d bytes, the last %q", len(message), message[len(message)-4:])
	}
}

func TestEveryReasonOnTheWireHasANumberOfItsOwn(t *testing.T) {
	for number, reason := range reasonNumbers {
		if number == 0 {
			continue
		}
		got := parseRefusal(appendRefusal(nil, &HandshakeError{Reason: reason})[messageHeader:])
		if got.Reason != reason {
			t.Errorf("%q came back as %q", reason, got.Reason)
		}
	}
}

func TestOnlyWhatMayPassByItselfIsTemporary(t *testing.T) {
	temporary := []Reason{ReasonLost, ReasonTimeout, ReasonRefused}
	lasting := []Reason{ReasonNotSabir, ReasonCanceled, ReasonConfig, ReasonVersion, ReasonKeyNeeded, ReasonKey, ReasonCluster,
		ReasonSameNode, ReasonPurpose, ReasonRole, ReasonBinding, ReasonMalformed, ReasonSelf, ReasonIdentity}
	for _, reason := range slices.Concat(temporary, lasting) {
		if got := (&HandshakeError{Reason: reason}).Temporary(); got != slices.Contains(temporary, reason) {
			t.Errorf("%q: %t", reason, got)
		}
	}
}

func BenchmarkHandshake(b *testing.B) {
	for name, key := range map[string][]byte{"plain": nil, "keyed": testKey} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				record(b, key)
			}
		})
	}
}

// script is a connection on which the peer sends the bytes in received, whatever it receives, and then nothing.
type script struct {
	net.Conn // nil: no other method is expected
	received *bytes.Reader
	written  bytes.Buffer
	deadline time.Time
}

func newScript(received []byte) *script { return &script{received: bytes.NewReader(received)} }

func (s *script) Read(b []byte) (int, error) {
	if s.received.Len() > 0 {
		return s.received.Read(b)
	}
	if s.deadline.IsZero() {
		panic("a read that nothing would end")
	}
	return 0, os.ErrDeadlineExceeded
}

func (s *script) Write(b []byte) (int, error)   { return s.written.Write(b) }
func (s *script) SetDeadline(t time.Time) error { s.deadline = t; return nil }
func (s *script) RemoteAddr() net.Addr          { return nil }
func (s *script) Close() error                  { return nil }

// recorded is the configuration of the two sides in record.
func recorded(key []byte, dialled bool) side {
	c := Config{Node: "b", Cluster: "c", Keys: keysOf(key), Compression: S2,
		Limits: Limits{Message: 1 << 20, Calls: 2, Streams: 3, Window: 4096, Routes: 5, Schemas: 6, Names: 7}}
	if dialled {
		c.Node, c.NodeInfo = "a", []byte(`{"zone":"x"}`)
	}
	return side{Config: c}
}

// record returns all bytes that the two sides of one successful handshake send.
func record(t testing.TB, key []byte) (dialler, acceptor []byte) {
	t.Helper()
	return recordOf(t, recorded(key, true), recorded(key, false))
}

func recordOf(t testing.TB, dialler, acceptor side) (byDialler, byAcceptor []byte) {
	t.Helper()
	atDialler, atAcceptor := net.Pipe()
	defer atDialler.Close()
	defer atAcceptor.Close()
	tapDialler, tapAcceptor := &tap{Conn: atDialler}, &tap{Conn: atAcceptor}
	done := make(chan outcome, 1)
	go func() { done <- acceptor.handshake(context.Background(), tapAcceptor, false) }()
	got := dialler.handshake(context.Background(), tapDialler, true)
	if other := <-done; got.err != nil || other.err != nil {
		t.Fatal(got.err, other.err)
	}
	return tapDialler.written.Bytes(), tapAcceptor.written.Bytes()
}

// tap keeps the bytes that are written to a connection.
type tap struct {
	net.Conn
	written bytes.Buffer
}

func (c *tap) Write(b []byte) (int, error) {
	c.written.Write(b)
	return c.Conn.Write(b)
}
