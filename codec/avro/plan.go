package avro

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"sync"

	hamba "github.com/hamba/avro/v2"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// plan is the compiled form of a Go type.
type plan struct {
	typ         *layout.Type
	text        string // the schema
	fingerprint [8]byte
	header      []byte   // of a container file, up to the block
	sync        [16]byte // its marker

	write *writer
	read  *reader // what this program writes

	mu     sync.RWMutex
	others map[string]*reader // what others write, by the text of their schema
}

// maxOthers bounds how many schemas of other writers a type remembers. One more makes it forget them all.
const maxOthers = 64

// plans holds every compiled type: reflect.Type to *plan. It grows with the types of the program, never with input.
var plans sync.Map

var rules = layout.Rules{Tag: Name, TagNames: true}

// planOf returns the plan of t, compiling it on first use.
func planOf(t reflect.Type) (*plan, *codec.Error) {
	if known, ok := plans.Load(t); ok {
		return known.(*plan), nil
	}
	p, err := newPlan(t)
	if err != nil {
		return nil, fault(-1, err.Error())
	}
	kept, _ := plans.LoadOrStore(t, p)
	return kept.(*plan), nil
}

func newPlan(t reflect.Type) (*plan, error) {
	typ, err := layout.Of(t, rules)
	if err != nil {
		return nil, err
	}
	text, err := describe(typ)
	if err != nil {
		return nil, err
	}
	schema, err := hamba.ParseBytesWithCache([]byte(text), "", &hamba.SchemaCache{})
	if err != nil {
		return nil, fmt.Errorf("%s has no schema: %w", t, err)
	}
	p := &plan{typ: typ, text: text, others: make(map[string]*reader)}
	fingerprint, err := schema.FingerprintUsing(hamba.CRC64AvroLE)
	if err != nil {
		return nil, err
	}
	copy(p.fingerprint[:], fingerprint)
	// The marker must be the same in each message of this schema, and hard to come upon by chance in another.
	digest := sha256.Sum256([]byte(text))
	copy(p.sync[:], digest[:])
	p.header = containerHeader(text, p.sync)
	p.write = newWriters().of(typ)
	p.read = newReaders().of(schema, typ)
	return p, nil
}

// reader returns how to read what the writer of a schema wrote.
func (p *plan) reader(text []byte) (*reader, error) {
	p.mu.RLock()
	known := p.others[string(text)]
	p.mu.RUnlock()
	if known != nil {
		return known, nil
	}
	schema, err := parse(string(text))
	if err != nil {
		return nil, err
	}
	read := newReaders().of(schema, p.typ)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.others) >= maxOthers {
		clear(p.others)
	}
	p.others[string(text)] = read
	return read, nil
}

// known holds the schemas that AddSchema was given, by their fingerprint.
var known struct {
	sync.RWMutex
	texts map[[8]byte]string
}

// maxKnown bounds how many schemas AddSchema takes.
const maxKnown = 4096

// AddSchema makes a schema known to all codecs of this package, so that they read single-object encodings of it. Where the schema
// came from a peer, the caller decides whether to trust it. It fails on a text that is no schema and where 4096 are known.
func AddSchema(text string) error {
	schema, err := parse(text)
	if err != nil {
		return fault(-1, err.Error())
	}
	fingerprint, err := schema.FingerprintUsing(hamba.CRC64AvroLE)
	if err != nil {
		return fault(-1, err.Error())
	}
	known.Lock()
	defer known.Unlock()
	if known.texts == nil {
		known.texts = make(map[[8]byte]string)
	}
	key := [8]byte(fingerprint)
	if _, ok := known.texts[key]; !ok && len(known.texts) >= maxKnown {
		return fault(-1, fmt.Sprintf("%d schemas are known already, no more can be added", maxKnown))
	}
	known.texts[key] = text
	return nil
}
