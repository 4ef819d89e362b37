package vouch_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"maps"
	"math/big"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/internal/vouch"
)

const principal = `{"sub":"ada"}`

var message = [][]byte{[]byte("shop.orders"), []byte("id-1"), []byte("data")}

// keyed is a node with cluster keys.
func keyed(keys ...string) vouch.Node { return vouch.Node{Keys: seal.NewKeys(keys...)} }

const oneKey, otherKey = "0123456789abcdef0123456789abcdef", "an other key of at least 16 bytes"

func published(n vouch.Node) map[string]string {
	return n.Principal(map[string]string{identity.PrincipalKey: principal, "tenant": "acme"}, message...)
}

// believed reports whether the node takes the principal, and fails where something else of the metadata is lost or left.
func believed(t *testing.T, n vouch.Node, metadata map[string]string, parts ...[]byte) bool {
	t.Helper()
	before := maps.Clone(metadata)
	checked, ok := n.Check(metadata, parts...)
	if checked["tenant"] != "acme" || checked[vouch.MetadataKey] != "" || ok != (checked[identity.PrincipalKey] == principal) || !maps.Equal(before, metadata) {
		t.Errorf("%v became %v, %t", before, checked, ok)
	}
	return ok
}

func TestAPrincipalIsTakenFromHoldersOfAClusterKeyOnly(t *testing.T) {
	forged := map[string]string{identity.PrincipalKey: principal, "tenant": "acme", vouch.MetadataKey: "Zm9yZ2Vk"}
	for about, test := range map[string]struct {
		from map[string]string
		by   vouch.Node
		want bool
	}{
		"the same key":                      {published(keyed(oneKey)), keyed(oneKey), true},
		"an old key while it is changed":    {published(keyed(oneKey)), keyed(otherKey, oneKey), true},
		"another key":                       {published(keyed(oneKey)), keyed(otherKey), false},
		"a proof that somebody made up":     {forged, keyed(oneKey), false},
		"no proof":                          {published(vouch.Node{}), keyed(oneKey), false},
		"a key of nodes without one":        {published(keyed(oneKey)), vouch.Node{}, true},
		"no key on either side":             {published(vouch.Node{}), vouch.Node{}, true},
		"a key where certificates are due":  {published(keyed(oneKey)), vouch.Node{Keys: seal.NewKeys(oneKey), Nodes: []string{"*"}}, false},
		"a key where nobody is to vouch":    {published(keyed(oneKey)), vouch.Node{Keys: seal.NewKeys(oneKey), Nodes: []string{}}, false},
		"a key where there is TLS, by none": {published(keyed(oneKey)), vouch.Node{Keys: seal.NewKeys(oneKey), TLS: &tls.Config{}}, false},
	} {
		if got := believed(t, test.by, test.from, message...); got != test.want {
			t.Errorf("%s: taken %t", about, got)
		}
	}
}

func TestAProofIsOfOneMessageAndOnePrincipal(t *testing.T) {
	n := keyed(oneKey)
	for i, part := range message {
		other := [][]byte{message[0], message[1], message[2]}
		other[i] = append([]byte("x"), part...)
		if believed(t, n, published(n), other...) {
			t.Errorf("a proof is taken for a message whose part %d is another", i)
		}
	}
	if moved := published(n); believed(t, n, moved, message[0], append(message[1], message[2]...), nil) {
		t.Error("what is behind one part may be before the next")
	}
	changed := published(n)
	changed[identity.PrincipalKey] = `{"sub":"mallory"}`
	if checked, ok := n.Check(changed, message...); ok || checked[identity.PrincipalKey] != "" {
		t.Errorf("%v, %t", checked, ok)
	}
}

func TestWithoutAPrincipalNothingIsAdded(t *testing.T) {
	metadata := map[string]string{"tenant": "acme"}
	if got := keyed(oneKey).Principal(metadata, message...); !maps.Equal(got, metadata) {
		t.Errorf("%v", got)
	}
	if got, ok := keyed(oneKey).Check(metadata, message...); !ok || !maps.Equal(got, metadata) {
		t.Errorf("%v, %t", got, ok)
	}
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

func newAuthority(t testing.TB) authority {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{certificate, key}
}

// node is a node with a certificate of the authority, which believes the nodes of the patterns.
func (a authority) node(t testing.TB, name string, key crypto.Signer, ends time.Time, patterns ...string) vouch.Node {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: ends,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return vouch.Node{TLS: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, ClientCAs: pool}, Nodes: patterns}
}

func TestWithCertificatesAPrincipalIsTakenFromTheNodesThatWereNamed(t *testing.T) {
	soon := time.Now().Add(time.Hour)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	old, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ca, other := newAuthority(t), newAuthority(t)
	reader := ca.node(t, "billing", curve, soon, "gateway-*")
	for about, test := range map[string]struct {
		from map[string]string
		want bool
	}{
		"ECDSA":                              {published(ca.node(t, "gateway-1", curve, soon)), true},
		"Ed25519":                            {published(ca.node(t, "gateway-1", edwards, soon)), true},
		"RSA":                                {published(ca.node(t, "gateway-1", old, soon)), true},
		"a node that was not named":          {published(ca.node(t, "orders-1", curve, soon)), false},
		"a certificate of another authority": {published(other.node(t, "gateway-1", curve, soon)), false},
		"a certificate that has expired":     {published(ca.node(t, "gateway-1", curve, time.Now().Add(-time.Minute))), false},
		"a cluster key":                      {published(keyed(oneKey)), false},
		"no proof":                           {published(vouch.Node{}), false},
	} {
		if got := believed(t, reader, test.from, message...); got != test.want {
			t.Errorf("%s: taken %t", about, got)
		}
	}
	from := published(ca.node(t, "gateway-1", curve, soon))
	if believed(t, reader, from, []byte("shop.refunds"), message[1], message[2]) {
		t.Error("a signature is taken for another message")
	}
}

// named is a node that proves its id by the key of the text; asking, it wants that of others too.
func named(t testing.TB, id, text string, asking bool, patterns ...string) vouch.Node {
	t.Helper()
	key := func(text string) identity.Key {
		k, err := identity.NewKey(text)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	known, err := identity.NewKnown(map[string]string{"gateway-*": key(gatewayKey).Public(), "orders-*": key(ordersKey).Public()})
	if err != nil {
		t.Fatal(err)
	}
	n := vouch.Node{ID: id, Keys: seal.NewKeys(oneKey), NodeKey: key(text), Nodes: patterns}
	if asking {
		n.NodeKeys = known
	}
	return n
}

const gatewayKey, ordersKey = "the key of the nodes called gateway-*", "the key of the nodes called orders-*"

func TestWithNodeKeysAPrincipalIsTakenFromTheNodesThatWereNamed(t *testing.T) {
	reader := named(t, "orders-1", ordersKey, true, "gateway-*")
	for about, test := range map[string]struct {
		from map[string]string
		by   vouch.Node
		want bool
	}{
		"a node that was named":                    {published(named(t, "gateway-1", gatewayKey, true)), reader, true},
		"a node of another name":                   {published(named(t, "orders-2", ordersKey, true)), reader, false},
		"one that calls itself so":                 {published(named(t, "gateway-1", ordersKey, true)), reader, false},
		"the cluster key alone":                    {published(keyed(oneKey)), reader, false},
		"nobody is named":                          {published(named(t, "gateway-1", gatewayKey, true)), named(t, "orders-1", ordersKey, true), false},
		"a reader that has no node keys yet":       {published(named(t, "gateway-1", gatewayKey, true)), keyed(oneKey), true},
		"a reader that does not ask for proof yet": {published(named(t, "gateway-1", gatewayKey, false)), named(t, "orders-1", ordersKey, false), true},
		"such a reader, and another cluster":       {published(named(t, "gateway-1", gatewayKey, false)), keyed(otherKey), false},
	} {
		if got := believed(t, test.by, test.from, message...); got != test.want {
			t.Errorf("%s: taken %t", about, got)
		}
	}
	from := published(named(t, "gateway-1", gatewayKey, true))
	if believed(t, reader, from, []byte("shop.refunds"), message[1], message[2]) {
		t.Error("a signature is taken for another message")
	}
}

func TestAProofOfAPublisherIsOfOneMessageAndOneName(t *testing.T) {
	ca := newAuthority(t)
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	soon := time.Now().Add(time.Hour)
	allowed := []string{"orders-*"}
	for about, test := range map[string]struct {
		by, reader vouch.Node
		proves     bool
		taken      bool
	}{
		"a node key":                         {named(t, "orders-1", ordersKey, true), named(t, "orders-2", ordersKey, true), true, true},
		"the node key of another group":      {named(t, "orders-1", gatewayKey, true), named(t, "orders-2", ordersKey, true), true, false},
		"another name":                       {named(t, "gateway-1", gatewayKey, true), named(t, "orders-2", ordersKey, true), false, false},
		"a certificate":                      {ca.node(t, "orders-1", key, soon), ca.node(t, "billing", key, soon), true, true},
		"a certificate of another name":      {ca.node(t, "billing", key, soon), ca.node(t, "billing", key, soon), false, false},
		"a certificate of another authority": {newAuthority(t).node(t, "orders-1", key, soon), ca.node(t, "billing", key, soon), true, false},
		"the cluster key alone":              {keyed(oneKey), named(t, "orders-2", ordersKey, true), false, false},
		"a reader that asks for no proof":    {named(t, "orders-1", ordersKey, true), keyed(oneKey), true, false},
	} {
		proof := test.by.Publisher(allowed, "shop.orders", "id-1", []byte("data"))
		if (proof != "") != test.proves || test.reader.PublishedBy(allowed, proof, "shop.orders", []byte("data")) != test.taken {
			t.Errorf("%s: the proof is %q", about, proof)
		}
		if !test.taken {
			continue
		}
		for other, taken := range map[string]bool{
			"another channel": test.reader.PublishedBy(allowed, proof, "shop.refunds", []byte("data")),
			"other data":      test.reader.PublishedBy(allowed, proof, "shop.orders", []byte("date")),
			"another id":      test.reader.PublishedBy(allowed, "x"+proof[1:], "shop.orders", []byte("data")),
			"other patterns":  test.reader.PublishedBy([]string{"billing-*"}, proof, "shop.orders", []byte("data")),
			"a principal's":   test.reader.PublishedBy(allowed, "~"+published(test.by)[vouch.MetadataKey], "shop.orders", []byte("data")),
		} {
			if taken {
				t.Errorf("%s: the proof is taken for %s", about, other)
			}
		}
	}
}

// FuzzCheck holds that no proof of somebody without a key or a certificate is taken, whatever it is.
func FuzzCheck(f *testing.F) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	ca := newAuthority(f)
	nodes := []vouch.Node{keyed("nobody who fuzzes has this key.."), ca.node(f, "billing", key, time.Now().Add(time.Hour), "*"), named(f, "orders-1", ordersKey, true, "*")}
	f.Add(published(named(f, "gateway-1", "a key that nobody knows of, so far as", true))[vouch.MetadataKey])
	f.Add("")
	f.Add("Zm9yZ2Vk")
	f.Add(published(newAuthority(f).node(f, "gateway-1", key, time.Now().Add(time.Hour)))[vouch.MetadataKey])
	f.Fuzz(func(t *testing.T, proof string) {
		for _, n := range nodes {
			if believed(t, n, map[string]string{identity.PrincipalKey: principal, "tenant": "acme", vouch.MetadataKey: proof}, message...) {
				t.Error("it is taken")
			}
			if n.ProvesNames() && n.PublishedBy([]string{"*"}, proof, "shop.orders", []byte("data")) {
				t.Error("it is taken for a publisher's")
			}
		}
	})
}
