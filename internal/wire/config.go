package wire

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/seal"
)

// A Purpose is the use of a connection of a node. The side that dials sends it; the side that accepts learns it from
// Peer.Purpose and gives the connection to the code that serves that, so one listener serves all purposes.
type Purpose string

// The purposes there are. Any other is refused in the handshake.
const (
	ForLink   Purpose = "link"   // frames, see New
	ForGossip Purpose = "gossip" // what the cluster's membership library sends; this package does not read it
	// ForPackets carries short messages of the membership library between nodes that have no link: a length of two bytes, little-endian,
	// before each. This package does not read them.
	ForPackets Purpose = "packets"
)

// Compression is the name of a way to make large values smaller.
type Compression string

// The compressions there are. S2 (https://github.com/klauspost/compress/tree/master/s2#s2-compression, block format) is the
// faster one, Zstandard (RFC 8878) the smaller one.
const (
	NoCompression Compression = ""
	S2            Compression = "s2"
	Zstd          Compression = "zstd"
)

// Defaults of Config and Limits, and the largest values that they may be set to.
const (
	DefaultCompressAbove    = 4 << 10
	DefaultHandshakeTimeout = 5 * time.Second
	DefaultPingInterval     = time.Second
	DefaultSilenceLimit     = 5 * time.Second
	DefaultWriteTimeout     = 10 * time.Second

	DefaultMessage = 64 << 20
	DefaultCalls   = 16 << 10
	DefaultStreams = 4 << 10
	DefaultWindow  = 256 << 10
	DefaultRoutes  = 4 << 10
	DefaultSchemas = 4 << 10
	DefaultNames   = 4 << 10

	MaxMessage  = 1 << 30 // also of Window
	MaxCount    = 1 << 20 // of each of Calls, Streams, Routes, Schemas, Names
	MaxNodeInfo = 16 << 10
	MaxName     = 255 // bytes of Node and of Cluster
)

// Config configures one node's links. The zero value of each field but Node is a usable default. A Config
// is not changed by the functions that take it, and its About must not change while it is in use.
type Config struct {
	// Node is this node's id, unique in its cluster, and Cluster the cluster's name: a peer of another cluster, or with the
	// same id, is refused. Each at most MaxName bytes of UTF-8 without control characters.
	Node, Cluster string

	// Keys are the cluster keys; the zero Keys has none. Both sides prove that they have one in common, it never goes on the wire, and what follows is
	// sealed. A weak key can be guessed offline from a recorded handshake, so let it be random: 32 bytes of crypto/rand, not a
	// password. Where one side has a key and the other has none, both get that reason and the link is refused.
	Keys seal.Keys

	// NodeKey is the key by which this node proves its id to peers that ask for that, and NodeKeys those of peers, which are refused without;
	// the zero Key proves nothing, and nil asks for nothing. Both need Keys.
	NodeKey  identity.Key
	NodeKeys identity.Known

	// Plain leaves what follows the handshake as it is where the peer agrees: everybody on the way can read and change it.
	Plain bool

	// Refusals counts what no holder of the key made. nil counts nothing.
	Refusals *seal.Refusals

	// NodeInfo describes this node to its peers, such as by its address, zone and labels: one JSON value of at most
	// MaxNodeInfo bytes, nil for none. Peers find it in Peer.NodeInfo. It is not secret.
	NodeInfo []byte

	// Limits bounds what peers may make this node hold.
	Limits Limits

	// Compression is the method that this node offers for values of CompressAbove bytes and more; 0 is DefaultCompressAbove.
	// Values are compressed where both sides offer the same method, and sent as they are otherwise.
	Compression   Compression
	CompressAbove int

	// HandshakeTimeout bounds the whole handshake. 0 is DefaultHandshakeTimeout.
	HandshakeTimeout time.Duration
	// PingInterval is the interval at which a link asks its peer for a sign of life and its load. Over a socket of the system the side that
	// accepted asks only in intervals in which the other one did not. 0 is DefaultPingInterval.
	PingInterval time.Duration
	// SilenceLimit is the time that a link may go without a byte from its peer before it counts as lost. It must be longer than
	// the peer's PingInterval, so at least longer than this node's. 0 is DefaultSilenceLimit.
	SilenceLimit time.Duration
	// WriteTimeout is the time for which a peer may take no byte of what is waiting for it before the link counts as lost. While
	// this process stands still it does not pass. 0 is DefaultWriteTimeout.
	WriteTimeout time.Duration

	// CallersRead has a caller that is alone on a link read its answer from the connection by itself, and whoever reads poll the connection as long as that pays, see
	// package busypoll: both take less time where processors are idle. What the peer sends by itself may wait for 2 ms then, and so may the end of the call by its
	// context or its timeout.
	CallersRead bool

	// Log takes the faults that no call of the link's owner can return as an error. nil is no log. Keys and proofs never reach it.
	Log *slog.Logger

	// Suspicion, where not nil, is called when Link.Suspected has changed. It must not block.
	Suspicion func(*Link)

	// Admission decides when requests of peers are served, and which are refused. Links of one node share it. nil serves all at once.
	Admission *admission.Control

	// Memory bounds the bytes of values that wait, of all links that share it and of each. nil is one of the link's own.
	Memory *memory.Budget

	// Load is asked for each ping, by several goroutines at once, and must return at once. nil is a zero Load.
	Load func() Load

	// Admit, where not nil, is asked about every peer that has passed all other checks of the handshake, before that is sent
	// so. An error refuses the peer with ReasonRefused and shows the error's text to it. That both sides admit each other
	// is only certain when Handshake has returned.
	Admit func(Peer) error
}

// String names the node and its cluster.
func (c Config) String() string { return fmt.Sprintf("node %q of cluster %q", c.Node, c.Cluster) }

// Limits bound what one side of a link accepts from the other. Each side sends its own in the handshake. 0 is the default.
type Limits struct {
	// Message is the largest value in bytes that is accepted, chunks put together and decompressed. DefaultMessage.
	Message int `json:"message"`
	// Calls is the number of requests of the peer that may be in flight on one link. DefaultCalls.
	Calls int `json:"calls"`
	// Streams is the number of streams opened by the peer that may be open on one link. DefaultStreams.
	Streams int `json:"streams"`
	// Window is the number of bytes of a stream that may wait unread, in each direction that this side receives. A sender may
	// pass it by one message. DefaultWindow.
	Window int `json:"window"`
	// Routes, Schemas and Names limit the declarations of the peer on one link. DefaultRoutes, DefaultSchemas,
	// DefaultNames.
	Routes  int `json:"routes"`
	Schemas int `json:"schemas"`
	Names   int `json:"names"`

	// InFlight bounds the requests in flight of all links that share it. nil is no bound but Calls. It is not sent to peers.
	InFlight *Budget `json:"-"`
}

// Peer describes the other side, as found out by the handshake.
type Peer struct {
	Node, Cluster string
	NodeInfo      []byte // JSON, or nil
	Limits        Limits // the peer's: what it accepts from us. Every number is at least 1 and within MaxMessage and MaxCount
	Version       int    // of the protocol, the highest that both sides speak
	// Features lists the features that both sides offer, such as "compress-s2"; nil for none.
	Features []string
	// Compression is the method that both sides offer; NoCompression where they have none in common.
	Compression Compression
	Dialled     bool // by this side
	Purpose     Purpose
	Keyed       bool // both sides proved the cluster key
	// Names are those that the peer has proven by a certificate of an authority that this side trusts; nil where it showed none.
	Names  []string
	Sealed bool // what both send is encrypted and authenticated, by the connection or above it
}

// Load is the load of a node, which it sends to its peers in pings.
type Load struct {
	CPU     float32 // share of the node's processors that is busy, 0 to 1; negative where it is not known
	Calls   uint32  // requests that are being served
	Waiting uint32  // requests that wait to be served
}

// Budget bounds how many of something there are at once, over all users of it: requests in flight of a node, or
// handshakes that are not finished. All methods may be called from any number of goroutines, and on nil, which has no bound.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget makes a Budget of limit places. Less than one is none at all.
func NewBudget(limit int) *Budget { return &Budget{limit: int64(limit)} }

// Take takes a place and reports whether there was one. Give it back with Give. Where several ask at once for more than there
// is, one of them may get false just as a place becomes free.
func (b *Budget) Take() bool {
	if b == nil {
		return true
	}
	if b.used.Add(1) <= b.limit {
		return true
	}
	b.used.Add(-1)
	return false
}

// Give returns one place that Take took.
func (b *Budget) Give() {
	if b != nil {
		b.used.Add(-1)
	}
}

// InUse is the number of places that are taken. While a Take finds none it may for a moment be above the limit.
func (b *Budget) InUse() int {
	if b == nil {
		return 0
	}
	return int(b.used.Load())
}

// Validate returns what is wrong with c, all faults at once. Handshake does it too; a node that does it at its start fails
// there rather than with its first peer.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("wire: "+format, args...)) }

	if c.Node == "" {
		fault("Config.Node is empty: every node needs an id of its own")
	} else if problem := nameProblem(c.Node); problem != "" {
		fault("Config.Node %s", problem)
	}
	if problem := nameProblem(c.Cluster); problem != "" {
		fault("Config.Cluster %s", problem)
	}
	if err := c.Keys.Validate(); err != nil {
		fault("Config.Keys: %w", err)
	}
	if c.Keys.None() && (!c.NodeKey.None() || c.NodeKeys != nil) {
		fault("Config.NodeKey and NodeKeys need a cluster key (cluster.Config.Key), in whose handshake ids are proven")
	}
	if c.NodeKeys != nil {
		if err := c.NodeKeys.CheckOwn(c.NodeKey, c.Node); err != nil {
			fault("Config.NodeKey: %w", err)
		}
	}
	if problem := nodeInfoProblem(c.NodeInfo); problem != "" {
		fault("Config.NodeInfo %s", problem)
	}
	switch c.Compression {
	case NoCompression:
	case S2, Zstd:
		if !c.Compression.linked() {
			fault(`the program does not link the compression %q: package transport/compress has those of Sabir`, c.Compression)
		}
	default:
		fault("Config.Compression is %q: there are %q and %q, and \"\" for none", c.Compression, S2, Zstd)
	}
	if c.CompressAbove < 0 {
		fault("Config.CompressAbove is %d: bytes cannot be negative", c.CompressAbove)
	}

	d := c.withDefaults()
	for _, of := range []struct {
		name  string
		value time.Duration
	}{
		{"HandshakeTimeout", d.HandshakeTimeout}, {"PingInterval", d.PingInterval},
		{"SilenceLimit", d.SilenceLimit}, {"WriteTimeout", d.WriteTimeout},
	} {
		if of.value < 0 {
			fault("Config.%s is %v: it cannot be negative", of.name, of.value)
		}
	}
	if d.SilenceLimit <= d.PingInterval {
		fault("Config.SilenceLimit is %v and PingInterval %v: a healthy peer would count as lost between two pings",
			d.SilenceLimit, d.PingInterval)
	}
	for _, l := range d.Limits.fields() {
		if *l.value < 1 || *l.value > l.most {
			fault("Config.Limits.%s is %d: it must be 1 to %d, or 0 for the default", l.name, *l.value, l.most)
		}
	}
	return errors.Join(faults...)
}

// withDefaults is c with every zero field that has a default filled in.
func (c Config) withDefaults() Config {
	setDefault(&c.CompressAbove, DefaultCompressAbove)
	setDefault(&c.HandshakeTimeout, DefaultHandshakeTimeout)
	setDefault(&c.PingInterval, DefaultPingInterval)
	setDefault(&c.SilenceLimit, DefaultSilenceLimit)
	setDefault(&c.WriteTimeout, DefaultWriteTimeout)
	for _, l := range c.Limits.fields() {
		setDefault(l.value, l.usual)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Load == nil {
		c.Load = func() Load { return Load{} }
	}
	return c
}

func setDefault[T comparable](field *T, usual T) {
	var zero T
	if *field == zero {
		*field = usual
	}
}

// limit is one number of Limits, with its default and its largest value.
type limit struct {
	name        string
	value       *int
	usual, most int
}

// fields is the one list of the numbers in l.
func (l *Limits) fields() []limit {
	return []limit{
		{"Message", &l.Message, DefaultMessage, MaxMessage},
		{"Calls", &l.Calls, DefaultCalls, MaxCount},
		{"Streams", &l.Streams, DefaultStreams, MaxCount},
		{"Window", &l.Window, DefaultWindow, MaxMessage},
		{"Routes", &l.Routes, DefaultRoutes, MaxCount},
		{"Schemas", &l.Schemas, DefaultSchemas, MaxCount},
		{"Names", &l.Names, DefaultNames, MaxCount},
	}
}

// nameProblem describes what is wrong with a node id or a cluster name; "" for nothing.
func nameProblem(name string) string {
	switch {
	case len(name) > MaxName:
		return fmt.Sprintf("has %d bytes, at most %d are allowed", len(name), MaxName)
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.ContainsFunc(name, isControl):
		return "holds a control character"
	}
	return ""
}

// isControl reports the control characters of Unicode's C0 and C1 and the delete character.
func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

// nodeInfoProblem describes what is wrong with what a node sends about itself; "" for nothing.
func nodeInfoProblem(info []byte) string {
	switch {
	case len(info) > MaxNodeInfo:
		return fmt.Sprintf("has %d bytes, at most %d are allowed", len(info), MaxNodeInfo)
	case info != nil && !jsontext.Value(info).IsValid():
		return "is not one JSON value in UTF-8 without duplicate names (RFC 7493)"
	}
	return ""
}
