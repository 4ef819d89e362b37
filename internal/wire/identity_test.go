package wire

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/transport"
)

// The texts of the private keys of two groups of nodes, and of nobody.
const (
	ordersKey  = "the key of the nodes called orders-*"
	billingKey = "the key of the nodes called billing-*"
	nobodysKey = "the key of nodes that nobody knows of"
)

func nodeKey(t testing.TB, text string) identity.Key {
	t.Helper()
	key, err := identity.NewKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func nodeKeys(t testing.TB) identity.Known {
	t.Helper()
	known, err := identity.NewKnown(map[string]string{"orders-*": nodeKey(t, ordersKey).Public(), "billing-*": nodeKey(t, billingKey).Public()})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// proving is a side of the id that has the key of the text and asks its peer for a proof.
func proving(t testing.TB, id, text string) side {
	t.Helper()
	return side{Config: Config{Node: id, Cluster: "c", Keys: keysOf(testKey), NodeKey: nodeKey(t, text), NodeKeys: nodeKeys(t)}}
}

func TestNodesProveTheirIDsByTheKeyOfTheirGroup(t *testing.T) {
	for _, address := range []string{"mem://:0", "tcp://127.0.0.1:0"} {
		one, two := over(t, address, transport.Config{}, transport.Config{})
		dialled, accepted := meet(t, one, two, proving(t, "orders-1", ordersKey), proving(t, "billing-1", billingKey))
		if dialled.err != nil || accepted.err != nil {
			t.Fatal(dialled.err, accepted.err)
		}
		if !slices.Equal(dialled.peer.Names, []string{"billing-1"}) || !slices.Equal(accepted.peer.Names, []string{"orders-1"}) {
			t.Errorf("proven are %q and %q", dialled.peer.Names, accepted.peer.Names)
		}
	}
}

// TLS encrypts then, and node keys prove the ids where it asks clients for no certificate.
func TestIDsAreProvenOverTLSToo(t *testing.T) {
	one, two := over(t, "tls://127.0.0.1:0", transport.Config{TLS: httpCertificate(t)}, transport.Config{TLS: &tls.Config{InsecureSkipVerify: true}})
	dialled, accepted := meet(t, one, two, proving(t, "orders-1", ordersKey), proving(t, "billing-1", billingKey))
	if dialled.err != nil || accepted.err != nil {
		t.Fatal(dialled.err, accepted.err)
	}
	if !slices.Equal(dialled.peer.Names, []string{"billing-1"}) || !slices.Equal(accepted.peer.Names, []string{"orders-1"}) {
		t.Errorf("proven are %q and %q", dialled.peer.Names, accepted.peer.Names)
	}
}

func TestWhoHasNoKeyForAnIDIsRefusedByBothSides(t *testing.T) {
	claims := func(id, text string) side { // whose own configuration would not let it
		s := proving(t, id, text)
		s.NodeKeys = nil
		return s
	}
	without := claims("billing-1", ordersKey)
	without.NodeKey = identity.Key{}
	for _, test := range []struct {
		about  string
		forger side
		detail string
	}{
		{"the key of another group", claims("billing-1", ordersKey), `calls itself "billing-1", and its key is for nodes called ["orders-*"]`},
		{"a key that nobody knows of", claims("billing-1", nobodysKey), "is not among cluster.Config.NodeKeys"},
		{"no key", without, "give it cluster.Config.NodeKey"},
	} {
		for _, dials := range []bool{true, false} {
			one, two := pipe(t)
			dialler, acceptor := proving(t, "orders-2", ordersKey), test.forger
			if dials {
				dialler, acceptor = acceptor, dialler
			}
			dialled, accepted := meet(t, one, two, dialler, acceptor)
			for side, err := range map[string]error{"dialler": dialled.err, "acceptor": accepted.err} {
				if reasonOf(err) != ReasonIdentity || !strings.Contains(err.Error(), test.detail) {
					t.Errorf("%s, it dials %t: the %s says %v", test.about, dials, side, err)
				}
			}
		}
	}
}

// Node keys are introduced one node after the other: first all prove their ids, then they ask for that.
func TestNodesMeetWhileNodeKeysAreIntroducedAndReplaced(t *testing.T) {
	without := func(id, _ string) side { return side{Config: Config{Node: id, Cluster: "c", Keys: keysOf(testKey)}} }
	proves := func(id, text string) side {
		s := proving(t, id, text)
		s.NodeKeys = nil
		return s
	}
	asks := func(id, text string) side { return proving(t, id, text) }
	replacing := func(id, text string) side { // takes a new key of the orders' group beside the old one
		s := proving(t, id, text)
		var err error
		if s.NodeKeys, err = identity.NewKnown(map[string]string{"orders-*": nodeKey(t, nobodysKey).Public() + ", " + nodeKey(t, ordersKey).Public(),
			"billing-*": nodeKey(t, billingKey).Public()}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	replaced := func(id, _ string) side { return replacing(id, nobodysKey) }
	for about, test := range map[string]struct {
		orders, billing   func(id, text string) side
		byOrders, byOther bool // whether the other's id counts as proven
	}{
		"none has a key":         {without, without, false, false},
		"one has a key":          {without, proves, false, false},
		"all have keys":          {proves, proves, false, false},
		"one asks":               {proves, asks, false, true},
		"all ask":                {asks, asks, true, true},
		"a new key is known":     {asks, replacing, true, true},
		"a node has the new key": {replaced, replacing, true, true},
	} {
		for _, dials := range []bool{true, false} {
			one, two := pipe(t)
			dialler, acceptor := test.orders("orders-1", ordersKey), test.billing("billing-1", billingKey)
			if !dials {
				dialler, acceptor = acceptor, dialler
			}
			dialled, accepted := meet(t, one, two, dialler, acceptor)
			if dialled.err != nil || accepted.err != nil {
				t.Errorf("%s: %v, %v", about, dialled.err, accepted.err)
				continue
			}
			atOrders, atBilling := dialled, accepted
			if !dials {
				atOrders, atBilling = accepted, dialled
			}
			if slices.Contains(atOrders.peer.Names, "billing-1") != test.byOrders || slices.Contains(atBilling.peer.Names, "orders-1") != test.byOther {
				t.Errorf("%s: proven are %q and %q", about, atOrders.peer.Names, atBilling.peer.Names)
			}
		}
	}
}

func TestAConfigurationThatProvesNothingIsAnError(t *testing.T) {
	for about, test := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"no cluster key":          {func(c *Config) { c.Keys = seal.Keys{} }, "need a cluster key"},
		"a key for other ids":     {func(c *Config) { c.Node = "billing-1" }, `this node is called "billing-1"`},
		"no key of its own":       {func(c *Config) { c.NodeKey = identity.Key{} }, "cluster.Config.NodeKey of its own"},
		"a key that is not known": {func(c *Config) { c.NodeKey = nodeKey(t, nobodysKey) }, "is not among cluster.Config.NodeKeys"},
	} {
		c := proving(t, "orders-1", ordersKey).Config
		test.change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), ordersKey) {
			t.Errorf("%s: %v", about, err)
		}
	}
}

// insider is one side of a handshake by somebody who has the cluster key, and says in it what it likes.
type insider struct {
	conn     net.Conn
	prologue []byte
}

func newInsider(t *testing.T, conn net.Conn, dials bool) insider {
	t.Helper()
	own := preamble{oldest: oldestVersion, newest: newestVersion, flags: flagKeyed}
	if dials {
		own.flags |= flagDialled
	}
	rand.Read(own.nonce[:])
	first := own.append(nil)
	if dials {
		conn.Write(first)
	}
	_, raw, err := readPreamble(conn)
	if err != nil {
		t.Fatal(err)
	}
	if dials {
		return insider{conn, slices.Concat(first, raw, make([]byte, bindingSize))}
	}
	conn.Write(first)
	return insider{conn, slices.Concat(raw, first, make([]byte, bindingSize))}
}

// ask sends a payload as the dialling side, and returns the reply's.
func (i insider) ask(t *testing.T, payload []byte) []byte {
	t.Helper()
	message, offer, err := keysOf(testKey).Offer(rand.Reader, []seal.Suite{seal.ChaChaPoly}, i.prologue, func([]byte) []byte { return payload })
	if err != nil {
		t.Fatal(err)
	}
	i.conn.Write(appendMessage(nil, messageSealed, message))
	body, err := readMessage(i.conn, messageSealed, maxHello)
	if err != nil {
		t.Fatal(err)
	}
	reply, _, err := offer.Finish(body)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// heard returns the payload that the dialling side has sent, and how to reply.
func (i insider) heard(t *testing.T) ([]byte, *seal.Answer) {
	t.Helper()
	body, err := readMessage(i.conn, messageSealed, maxHello)
	if err != nil {
		t.Fatal(err)
	}
	answer, payload, err := keysOf(testKey).Answer(rand.Reader, []seal.Suite{seal.ChaChaPoly}, i.prologue, body)
	if err != nil {
		t.Fatal(err)
	}
	return payload, answer
}

func TestWhoWasGivenAProofCannotGiveItToAnother(t *testing.T) {
	billing, orders := proving(t, "billing-1", billingKey), proving(t, "orders-1", ordersKey)
	ended := make(chan error, 2)

	// billing-1 dials the insider, who dials orders-1 and says what it has heard.
	one, two := pipe(t)
	go func() { ended <- billing.handshake(context.Background(), one, true).err }()
	heard, _ := newInsider(t, two, false).heard(t)
	two.Close()
	if err := <-ended; err == nil || !bytes.Contains(heard, []byte(`"billing-1"`)) {
		t.Fatalf("%v, heard %q", err, heard)
	}
	one, two = pipe(t)
	go func() { ended <- orders.handshake(context.Background(), one, false).err }()
	reply := newInsider(t, two, true).ask(t, heard)
	if err := <-ended; reasonOf(err) != ReasonIdentity || !strings.Contains(err.Error(), "of another handshake") {
		t.Errorf("the proof of a dialler is taken from another: %v", err)
	}
	if _, err := readMessage(bytes.NewReader(reply), messageHello, maxHello); reasonOf(err) != ReasonIdentity {
		t.Errorf("it is told %v", err)
	}

	// The insider, a node of the orders' group itself, dials billing-1, and answers orders-1 with what it has heard.
	one, two = pipe(t)
	go func() { ended <- billing.handshake(context.Background(), one, false).err }()
	mallory := proving(t, "orders-9", ordersKey)
	in := newInsider(t, two, true)
	message, offer, err := keysOf(testKey).Offer(rand.Reader, []seal.Suite{seal.ChaChaPoly}, in.prologue, func(tie []byte) []byte {
		return appendMessage(helloMessage(helloOf(mallory.withDefaults(), ForLink)), messageProof, mallory.NodeKey.Prove(proofOfDialler, mallory.Node, tie))
	})
	if err != nil {
		t.Fatal(err)
	}
	two.Write(appendMessage(nil, messageSealed, message))
	body, err := readMessage(two, messageSealed, maxHello)
	if err != nil {
		t.Fatal(err)
	}
	answered, _, err := offer.Finish(body)
	if err != nil || !bytes.Contains(answered, []byte(`"billing-1"`)) {
		t.Fatalf("%v, heard %q", err, answered)
	}
	two.Close()
	<-ended
	one, two = pipe(t)
	go func() { ended <- orders.handshake(context.Background(), one, true).err }()
	in = newInsider(t, two, false)
	_, answer := in.heard(t)
	message, _, err = answer.Reply(answered)
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, two)
	two.Write(appendMessage(nil, messageSealed, message))
	if err := <-ended; reasonOf(err) != ReasonIdentity || !strings.Contains(err.Error(), "of another handshake") {
		t.Errorf("the proof of an acceptor is taken from another: %v", err)
	}
}

// TestProofsAreWhatTheyWere holds the bytes of the proofs of a handshake whose nonces and ephemeral keys are fixed.
func TestProofsAreWhatTheyWere(t *testing.T) {
	known, err := identity.NewKnown(map[string]string{"a": nodeKey(t, ordersKey).Public(), "b": nodeKey(t, billingKey).Public()})
	if err != nil {
		t.Fatal(err)
	}
	dialler, acceptor := recorded(testKey, true), recorded(testKey, false)
	dialler.NodeKey, dialler.NodeKeys, acceptor.NodeKey, acceptor.NodeKeys = nodeKey(t, ordersKey), known, nodeKey(t, billingKey), known
	first, second := recordOf(t, dialler, acceptor)
	asked, answered := turnsOf(t, first), turnsOf(t, second)
	prologue := slices.Concat(asked[0], answered[0], make([]byte, bindingSize))
	suites := []seal.Suite{seal.ChaChaPoly}
	_, heard, err := keysOf(testKey).Answer(rand.Reader, suites, prologue, asked[1][messageHeader:])
	if err != nil {
		t.Fatal(err)
	}
	_, offer, err := keysOf(testKey).Offer(&ephemeral{dialled: true}, suites, prologue, func([]byte) []byte { return heard })
	if err != nil {
		t.Fatal(err)
	}
	reply, _, err := offer.Finish(answered[1][messageHeader:])
	if err != nil {
		t.Fatal(err)
	}
	const size = messageHeader + identity.ProofSize
	checkGolden(t, []vector{{"dialler-proof", heard[len(heard)-size:]}, {"acceptor-proof", reply[len(reply)-size:]}})
	golden := goldenVectors(t)
	if want := slices.Concat(golden["dialler-hello"], golden["dialler-proof"]); !bytes.Equal(heard, want) {
		t.Errorf("turn 3 is %x", heard)
	}
	if want := slices.Concat(golden["acceptor-hello"], golden["ok"], golden["acceptor-proof"]); !bytes.Equal(reply, want) {
		t.Errorf("turn 4 is %x", reply)
	}
}

// FuzzProof holds that what follows a hello proves no id unless it was made for that, whatever it is.
func FuzzProof(f *testing.F) {
	known, tie := nodeKeys(f), make([]byte, 32)
	f.Add([]byte{}, "billing-1")
	f.Add(nodeKey(f, ordersKey).Prove(proofOfDialler, "orders-1", tie), "billing-1")
	f.Add(nodeKey(f, billingKey).Prove(proofOfAcceptor, "billing-1", tie), "billing-1")
	f.Add(nodeKey(f, billingKey).Prove(proofOfDialler, "billing-1", append([]byte{1}, tie...)), "billing-1")
	f.Fuzz(func(t *testing.T, proof []byte, node string) {
		if err := known.Check(proof, proofOfDialler, node, tie); err == nil {
			t.Error("it is taken")
		}
	})
}
