// Package vouch proves which node says for whom the message of a channel was published. Calls come over links, whose other end is known;
// a message lies at a broker, and whoever has rights there can write what it likes.
package vouch

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/seal"
)

// MetadataKey is the metadata that holds the proof. No handler sees it.
const MetadataKey = "sabir.voucher"

// Node holds the keys with which a node proves and checks principals. The zero Node, of one without a cluster key and without certificates, proves nothing and believes
// everything, as its links do.
type Node struct {
	ID       string
	Keys     seal.Keys
	TLS      *tls.Config
	NodeKey  identity.Key
	NodeKeys identity.Known
	Nodes    []string // patterns of the nodes that are believed, see cluster.Config.Vouchers; nil for the default

	LinksProveNames bool // to this one: names that only messages prove are not those of links
}

// ProvesNames reports whether nodes prove their names to this one, by certificates or node keys.
func (n Node) ProvesNames() bool { return n.TLS != nil || n.NodeKeys != nil }

// Of returns the Node of a *sabir.Node. Package sabir sets it.
var Of func(node any) Node

const purpose = "sabir channel principal 1"

// PublisherKey is the metadata that holds the proof of a message's publisher. No handler sees it.
const PublisherKey = "sabir.publisher"

const publisherPurpose = "sabir channel publisher 1"

// Publisher returns the proof that this node has published a message: the message's id in base64, and what signs it, with "~" between. It is ""
// where the node has no key and no certificate, or none of its names is among the patterns.
func (n Node) Publisher(patterns []string, channel, id string, data []byte) string {
	if !identity.Takes(patterns, n.names()) {
		return ""
	}
	signature := n.sign(publisherDigest(channel, id, data))
	if signature == "" {
		return ""
	}
	return base64.RawStdEncoding.EncodeToString([]byte(id)) + "~" + signature
}

// PublishedBy reports whether a node with a name among the patterns has published a message with the data. The proof names the id that the message had then:
// as a dead letter it has others.
func (n Node) PublishedBy(patterns []string, proof, channel string, data []byte) bool {
	text, signature, _ := strings.Cut(proof, "~")
	id, err := base64.RawStdEncoding.DecodeString(text)
	return err == nil && identity.Takes(patterns, n.signers(signature, publisherDigest(channel, string(id), data)))
}

func publisherDigest(channel, id string, data []byte) []byte {
	return hashOf([]byte(publisherPurpose), []byte(channel), []byte(id), data)
}

// names are those that this node proves to others.
func (n Node) names() []string {
	certificate := n.certificate()
	switch {
	case certificate == nil && n.NodeKey.None():
		return nil
	case certificate == nil:
		return []string{n.ID}
	}
	leaf, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		return nil
	}
	return identity.NamesOf(leaf)
}

// Principal returns the metadata for a message: those given, with a proof if there is a principal among them. parts are what the message
// is: none of them can be another where it is checked.
func (n Node) Principal(metadata map[string]string, parts ...[]byte) map[string]string {
	principal := metadata[identity.PrincipalKey]
	if principal == "" {
		return metadata
	}
	proof := n.prove(digest(principal, parts))
	if proof == "" {
		return metadata
	}
	proven := maps.Clone(metadata)
	proven[MetadataKey] = proof
	return proven
}

// Check returns the metadata of a message without the proof, and without the principal unless a node that may say so has proven it. ok is whether
// the principal, if there was one, was left. The map that it is given is not changed: groups of consumers share it.
func (n Node) Check(metadata map[string]string, parts ...[]byte) (checked map[string]string, ok bool) {
	principal, proof := metadata[identity.PrincipalKey], metadata[MetadataKey]
	if principal == "" && proof == "" {
		return metadata, true
	}
	checked, ok = maps.Clone(metadata), true
	delete(checked, MetadataKey)
	if principal != "" && !n.believes(proof, digest(principal, parts)) {
		delete(checked, identity.PrincipalKey)
		ok = false
	}
	return checked, ok
}

// digest is the hash of all that is proven, each part with its length.
func digest(principal string, parts [][]byte) []byte {
	return hashOf(append([][]byte{[]byte(purpose), []byte(principal)}, parts...)...)
}

func hashOf(parts ...[]byte) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p))))
		h.Write(p)
	}
	return h.Sum(nil)
}

// byKey reports whether knowing the cluster key is all that a node has to prove, as on links.
func (n Node) byKey() bool { return !n.ProvesNames() && n.Nodes == nil }

func (n Node) prove(digest []byte) string {
	if signature := n.sign(digest); signature != "" || !n.byKey() || n.Keys.None() {
		return signature
	}
	return n.mac(digest)
}

func (n Node) mac(digest []byte) string {
	return base64.RawStdEncoding.EncodeToString(mac(n.Keys.Derive(purpose)[0], digest))
}

func (n Node) believes(proof string, digest []byte) bool {
	if !n.byKey() {
		return identity.Takes(n.Nodes, n.signers(proof, digest))
	}
	if n.Keys.None() {
		return true
	}
	given, err := base64.RawStdEncoding.DecodeString(proof[strings.LastIndexByte(proof, '.')+1:])
	return err == nil && slices.ContainsFunc(n.Keys.Derive(purpose), func(key []byte) bool { return hmac.Equal(given, mac(key, digest)) })
}

func mac(key, digest []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(digest)
	return h.Sum(nil)
}

const (
	// byNodeKey begins a proof by a node key. Base64 of a signature is never as short.
	byNodeKey = "node."
	// proofOfMessage is the purpose of such a proof.
	proofOfMessage = "message 1"
)

// signByNodeKey returns the node's id, the proof by its key, and what proves the cluster key to nodes that do not ask for node keys yet:
// texts in base64 with dots between.
func (n Node) signByNodeKey(digest []byte) string {
	return byNodeKey + base64.RawStdEncoding.EncodeToString([]byte(n.ID)) + "." +
		base64.RawStdEncoding.EncodeToString(n.NodeKey.Prove(proofOfMessage, n.ID, digest)) + "." + n.mac(digest)
}

// sign returns a signature by the node's certificate, and the certificate with those between it and the authority: texts in base64 with
// dots between. Without a certificate it is by the node's key, and "" without either.
func (n Node) sign(digest []byte) string {
	certificate := n.certificate()
	switch {
	case certificate == nil && n.NodeKey.None():
		return ""
	case certificate == nil:
		return n.signByNodeKey(digest)
	}
	signer, ok := certificate.PrivateKey.(crypto.Signer)
	if !ok {
		return ""
	}
	var options crypto.SignerOpts = crypto.SHA256
	text := digest
	switch signer.Public().(type) {
	case ed25519.PublicKey:
		options = crypto.Hash(0)
	case *rsa.PublicKey:
		text, options = hashed(digest), &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA256}
	case *ecdsa.PublicKey:
		text = hashed(digest)
	default:
		return ""
	}
	signature, err := signer.Sign(rand.Reader, text, options)
	if err != nil {
		return ""
	}
	proof := base64.RawStdEncoding.EncodeToString(signature)
	for _, der := range certificate.Certificate {
		proof += "." + base64.RawStdEncoding.EncodeToString(der)
	}
	return proof
}

func hashed(b []byte) []byte {
	h := sha256.Sum256(b)
	return h[:]
}

// certificate returns the certificate that the node shows on links; nil for none.
func (n Node) certificate() *tls.Certificate {
	switch {
	case n.TLS == nil:
		return nil
	case len(n.TLS.Certificates) > 0:
		return &n.TLS.Certificates[0]
	case n.TLS.GetClientCertificate == nil:
		return nil
	}
	c, err := n.TLS.GetClientCertificate(&tls.CertificateRequestInfo{Version: tls.VersionTLS13,
		SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256, tls.PSSWithSHA256, tls.Ed25519}})
	if err != nil || len(c.Certificate) == 0 {
		return nil
	}
	return c
}

// maxChain bounds the certificates of a proof that are looked at.
const maxChain = 5

// signers returns the proven names of the node that a proof is of: its id where that is signed by a node key for it; else the names of the
// certificate that it is signed by, if an authority that this node trusts for other nodes has signed that, and it is valid now.
func (n Node) signers(proof string, digest []byte) []string {
	if rest, ok := strings.CutPrefix(proof, byNodeKey); ok {
		return n.keyHolder(rest, digest)
	}
	texts := strings.Split(proof, ".")
	if len(texts) < 2 || len(texts) > 1+maxChain || n.TLS == nil || n.TLS.ClientCAs == nil {
		return nil
	}
	signature, err := base64.RawStdEncoding.DecodeString(texts[0])
	if err != nil {
		return nil
	}
	between := x509.NewCertPool()
	var leaf *x509.Certificate
	for _, text := range texts[1:] {
		der, err := base64.RawStdEncoding.DecodeString(text)
		if err != nil {
			return nil
		}
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return nil
		}
		if leaf == nil {
			leaf = certificate
		} else {
			between.AddCert(certificate)
		}
	}
	var algorithm x509.SignatureAlgorithm
	switch leaf.PublicKey.(type) {
	case ed25519.PublicKey:
		algorithm = x509.PureEd25519
	case *rsa.PublicKey:
		algorithm = x509.SHA256WithRSAPSS
	case *ecdsa.PublicKey:
		algorithm = x509.ECDSAWithSHA256
	}
	if leaf.CheckSignature(algorithm, digest, signature) != nil {
		return nil
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: n.TLS.ClientCAs, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		return nil
	}
	return identity.NamesOf(leaf)
}

func (n Node) keyHolder(proof string, digest []byte) []string {
	texts := strings.Split(proof, ".")
	if len(texts) != 3 || n.NodeKeys == nil {
		return nil
	}
	node, err := base64.RawStdEncoding.DecodeString(texts[0])
	if err != nil {
		return nil
	}
	given, err := base64.RawStdEncoding.DecodeString(texts[1])
	if err != nil || n.NodeKeys.Check(given, proofOfMessage, string(node), digest) != nil {
		return nil
	}
	return []string{string(node)}
}
