package avro

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"sync"

	avro "github.com/twmb/avro"

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

var rules = layout.Rules{Tag: codecName, TagNames: true}

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
	parsed, err := avro.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s has no schema: %w", t, err)
	}
	own, err := newSchema(parsed)
	if err != nil {
		return nil, fmt.Errorf("%s has no schema: %w", t, err)
	}
	p := &plan{typ: typ, text: text, fingerprint: fingerprintOf(parsed), others: make(map[string]*reader)}
	// The marker must be the same in each message of this schema, and hard to come upon by chance in another.
	digest := sha256.Sum256([]byte(text))
	copy(p.sync[:], digest[:])
	p.header = containerHeader(text, p.sync)
	p.write = newWriters().of(typ)
	p.read = newReaders().of(own, typ)
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
	parsed, err := parse(string(text))
	if err != nil {
		return nil, err
	}
	theirs, err := newSchema(parsed)
	if err != nil {
		return nil, err
	}
	read := newReaders().of(theirs, p.typ)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.others) >= maxOthers {
		clear(p.others)
	}
	p.others[string(text)] = read
	return read, nil
}

// fingerprintOf is a schema's CRC-64-AVRO as a single-object encoding has it: the least significant byte first.
func fingerprintOf(s *avro.Schema) (out [8]byte) {
	h := avro.NewRabin()
	_, _ = h.Write(s.Canonical())
	binary.LittleEndian.PutUint64(out[:], h.Sum64())
	return out
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
	parsed, err := parse(text)
	if err != nil {
		return fault(-1, err.Error())
	}
	known.Lock()
	defer known.Unlock()
	if known.texts == nil {
		known.texts = make(map[[8]byte]string)
	}
	key := fingerprintOf(parsed)
	if _, ok := known.texts[key]; !ok && len(known.texts) >= maxKnown {
		return fault(-1, fmt.Sprintf("%d schemas are known already, no more can be added", maxKnown))
	}
	known.texts[key] = text
	return nil
}
