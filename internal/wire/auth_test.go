package wire

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/transport"
)

// httpCertificate is a server's TLS configuration with a certificate that is not trusted.
func httpCertificate(t *testing.T) *tls.Config {
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	return &tls.Config{Certificates: server.TLS.Certificates}
}

func reasonOf(err error) Reason {
	if e, ok := errors.AsType[*HandshakeError](err); ok {
		return e.Reason
	}
	return ""
}

func TestUninvitedCallerLearnsNothing(t *testing.T) {
	acceptor := side{Config: Config{Node: "secret-node", Cluster: "secret-cluster", Keys: keysOf(testKey), NodeInfo: []byte(`"secret-about"`)}}
	dialler, _ := record(t, otherKey)
	noKey, _ := record(t, nil)
	for name, received := range map[string][]byte{"with another key": dialler, "without a key": noKey, "with another protocol": []byte("GET / HTTP/1.1\r\n\r\n")} {
		script := newScript(received)
		if got := acceptor.handshake(t.Context(), script, false); got.err == nil {
			t.Fatalf("%s: it was let in", name)
		}
		if bytes.Contains(script.written.Bytes(), []byte("secret")) {
			t.Errorf("%s: it received %q", name, script.written.Bytes())
		}
	}
}

func TestHelloIsNotLookedIntoBeforeTheProof(t *testing.T) {
	data := preamble{oldest: 3, newest: 3, flags: flagDialled | flagKeyed}.append(nil)
	data = appendMessage(data, messageSealed, []byte("\x01\x01\x30\x00this is no JSON, and nothing that a key was used for"))
	got := recorded(testKey, false).handshake(t.Context(), newScript(data), false)
	if reasonOf(got.err) != ReasonKey {
		t.Errorf("error %v", got.err)
	}
}

func TestKeyNeverGoesOnTheWire(t *testing.T) {
	dialler, acceptor := record(t, testKey)
	for _, said := range [][]byte{dialler, acceptor} {
		hashed := sha256.Sum256(testKey)
		for _, secret := range [][]byte{testKey[:8], hashed[:8], []byte(hex.EncodeToString(testKey[:8]))} {
			if bytes.Contains(said, secret) {
				t.Errorf("%q is in %q", secret, said)
			}
		}
	}
}

// TestOwnProofSentBackProvesNothing plays a node without the key that answers a dialler with its own words.
func TestOwnProofSentBackProvesNothing(t *testing.T) {
	ours, theirs := pipe(t)
	go func() {
		io.ReadFull(theirs, make([]byte, preambleSize))
		theirs.Write(preamble{oldest: 3, newest: 3, flags: flagKeyed}.append(nil))
		said, _ := readSome(theirs)
		said = bytes.Replace(said, []byte(`"node":"a"`), []byte(`"node":"z"`), 1)
		theirs.Write(appendMessage(said, messageOK, nil))
		io.Copy(io.Discard, theirs)
	}()
	if got := recorded(testKey, true).handshake(t.Context(), ours, true); reasonOf(got.err) != ReasonKey {
		t.Errorf("error %v", got.err)
	}
}

// readSome returns the bytes of one write of the peer.
func readSome(conn net.Conn) ([]byte, error) {
	buf := make([]byte, maxHello)
	n, err := conn.Read(buf)
	return buf[:n], err
}

func TestOwnNonceSentBackIsRefused(t *testing.T) {
	reflected := preamble{oldest: 3, newest: 3, flags: flagKeyed, nonce: testNonce(true)}.append(nil)
	if got := recorded(testKey, true).handshake(t.Context(), newScript(reflected), true); reasonOf(got.err) != ReasonMalformed {
		t.Errorf("error %v", got.err)
	}
}

func TestRecordedHandshakeCannotBeUsedAgain(t *testing.T) {
	dialler, acceptor := record(t, testKey)
	for _, tc := range []struct {
		dialled  bool
		received []byte
	}{{false, dialler}, {true, acceptor}} {
		_, _, err := Handshake(t.Context(), newScript(tc.received), recorded(testKey, tc.dialled).Config, tc.dialled, "") // with a new nonce
		if reasonOf(err) != ReasonKey {
			t.Errorf("dialled %t: %v", tc.dialled, err)
		}
	}
}

func TestEveryHandshakeHasANewNonce(t *testing.T) {
	one, two := newScript(nil), newScript(nil)
	for _, script := range []*script{one, two} {
		Handshake(t.Context(), script, Config{Node: "a"}, true, "")
	}
	if nonce := one.written.Bytes()[preambleSize-nonceSize:]; bytes.Equal(nonce, two.written.Bytes()[preambleSize-nonceSize:]) || bytes.Equal(nonce, make([]byte, nonceSize)) {
		t.Errorf("nonces %x", nonce)
	}
}

// TestNoBitCanBeChangedOnTheWay holds that with a key, a handshake fails if a bit of it changes between sender and receiver.
func TestNoBitCanBeChangedOnTheWay(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: run it without -short")
	}
	dialler, acceptor := record(t, testKey)
	for _, tc := range []struct {
		dialled  bool
		received []byte
	}{{false, dialler}, {true, acceptor}} {
		s := recorded(testKey, tc.dialled)
		if got := s.handshake(t.Context(), newScript(tc.received), tc.dialled); got.err != nil {
			t.Fatalf("unchanged: %v", got.err)
		}
		for i := range tc.received {
			for bit := range 8 {
				changed := slices.Clone(tc.received)
				changed[i] ^= 1 << bit
				if got := s.handshake(t.Context(), newScript(changed), tc.dialled); got.err == nil {
					t.Errorf("dialled %t: bit %d of byte %d can be changed", tc.dialled, bit, i)
				}
			}
		}
	}
}

func TestTLSEndedInTheMiddleIsNoticed(t *testing.T) {
	server := transport.Config{TLS: httpCertificate(t)}
	client := transport.Config{TLS: &tls.Config{InsecureSkipVerify: true}} // a dialler that can be lied to
	t.Run("on both sides", func(t *testing.T) {
		atDialler, middleOfDialler := over(t, "tls://127.0.0.1:0", server, client)
		middleOfAcceptor, atAcceptor := over(t, "tls://127.0.0.1:0", server, client)
		passOn(t, middleOfDialler, middleOfAcceptor)
		dialled, accepted := meet(t, atDialler, atAcceptor, recorded(testKey, true), recorded(testKey, false))
		if reasonOf(dialled.err) != ReasonKey || reasonOf(accepted.err) != ReasonKey {
			t.Errorf("dialling side: %v\naccepting side: %v", dialled.err, accepted.err)
		}
	})
	t.Run("on one side", func(t *testing.T) {
		atDialler, middleOfDialler := over(t, "tls://127.0.0.1:0", server, client)
		middleOfAcceptor, atAcceptor := pipe(t)
		passOn(t, middleOfDialler, middleOfAcceptor)
		dialled, accepted := meet(t, atDialler, atAcceptor, recorded(testKey, true), recorded(testKey, false))
		if reasonOf(dialled.err) != ReasonBinding || reasonOf(accepted.err) != ReasonBinding {
			t.Errorf("dialling side: %v\naccepting side: %v", dialled.err, accepted.err)
		}
	})
}

// passOn copies between two connections until one of them ends.
func passOn(t *testing.T, one, two net.Conn) {
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{one, two}, {two, one}} {
		go func() {
			io.Copy(way[0], way[1])
			way[0].Close()
			way[1].Close()
			done <- struct{}{}
		}()
	}
	t.Cleanup(func() { one.Close(); two.Close(); <-done; <-done })
}

func TestConfigIsPrintedWithoutItsKey(t *testing.T) {
	c := Config{Node: "a", Cluster: "c", Keys: keysOf(testKey)}
	type holder struct{ config Config } // whose methods fmt cannot call
	for _, text := range []string{c.String(), fmt.Sprintf("%v %+v %#v", c, c, c), fmt.Sprintf("%v %+v %#v", holder{c}, holder{c}, holder{c})} {
		if strings.Contains(text, "0123") || strings.Contains(text, "48 49 50 51") || strings.Contains(text, "0x30, 0x31") {
			t.Error(text)
		}
	}
}

// FuzzHandshake holds that a peer, whatever it sends, makes no side panic, take more memory than the bounds allow or wait
// without a deadline, and that without the key no peer is admitted.
func FuzzHandshake(f *testing.F) {
	for _, key := range [][]byte{nil, testKey, otherKey} {
		dialler, acceptor := record(f, key)
		f.Add(false, key != nil, dialler)
		f.Add(true, key != nil, acceptor)
	}
	f.Add(false, false, []byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add(true, true, appendRefusal(preamble{oldest: 3, newest: 3, flags: flagKeyed}.append(nil), &HandshakeError{Reason: ReasonKey}))
	unguessable := []byte("nobody who fuzzes has this key..")
	f.Fuzz(func(t *testing.T, dialled, keyed bool, received []byte) {
		var key []byte
		if keyed {
			key = unguessable
		}
		script := newScript(received)
		var got outcome
		grown := allocated(func() { got = recorded(key, dialled).handshake(t.Context(), script, dialled) })
		if grown > 1<<20+64*uint64(len(received)) {
			t.Errorf("%d bytes of memory", grown)
		}
		if got.err == nil {
			if keyed {
				t.Fatalf("let in without the key: %+v", got.peer)
			}
			if got.peer.Node == "" || got.peer.Node == "a" && dialled || got.peer.Cluster != "c" || !script.deadline.IsZero() {
				t.Fatalf("%+v, deadline %v", got.peer, script.deadline)
			}
			return
		}
		if e, ok := errors.AsType[*HandshakeError](got.err); !ok || e.Reason == ReasonConfig {
			t.Fatalf("error %v", got.err)
		}
	})
}
