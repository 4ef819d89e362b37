package thrift

import (
	"context"
	"fmt"
	"math"
	"sync"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// The names of the two protocols as codecs.
const (
	codecName   = "thrift"
	compactName = "thrift-compact"
)

// The registered codecs, for sabir.Codecs: see [codec.Codec]. Codec writes the binary protocol, Compact the compact one.
var (
	Codec = newProtocol(codecName, false, func(m *memory) apache.TProtocol {
		return apache.NewTBinaryProtocolConf(m, configuration())
	})
	Compact = newProtocol(compactName, true, func(m *memory) apache.TProtocol {
		return apache.NewTCompactProtocolConf(m, configuration())
	})
)

func init() {
	codec.Register(Codec)
	codec.Register(Compact)
}

// configuration leaves the bounds to this package, which knows how long the data is.
func configuration() *apache.TConfiguration {
	return &apache.TConfiguration{MaxMessageSize: math.MaxInt32, MaxContainerSize: math.MaxInt32}
}

// protocol is one codec.
type protocol struct {
	name     string
	compact  bool
	sessions sync.Pool // *session
}

// session is one of the library's protocols over memory.
type session struct {
	memory   memory
	protocol apache.TProtocol
}

func newProtocol(name string, compact bool, open func(*memory) apache.TProtocol) codec.Codec {
	p := &protocol{name: name, compact: compact}
	p.sessions.New = func() any {
		s := &session{}
		s.protocol = open(&s.memory)
		return s
	}
	return codec.Contained(p)
}

func (p *protocol) Name() string { return p.name }

// The library's methods take a context for transports that wait. Ours never does.
var ctx = context.Background()

func (p *protocol) Append(dst []byte, v any) ([]byte, error) {
	t, at, ok := layout.Source(v)
	if !ok {
		return dst, p.fault(-1, "a nil pointer has no value to encode")
	}
	o, err := objectOf(t)
	if err != nil {
		return dst, p.fault(-1, err.Error())
	}
	s := p.sessions.Get().(*session)
	s.memory.data = dst
	e := encoder{TProtocol: s.protocol, codec: p}
	e.object(o, at, layout.MaxDepth)
	out := s.memory.data
	s.memory.data = nil
	if e.failed != nil {
		return dst, e.failed // the session may be in the middle of a message, so it is not used again
	}
	p.sessions.Put(s)
	return out, nil
}

func (p *protocol) Decode(data []byte, v any) error {
	t, at, ok := layout.Target(v)
	if !ok {
		return p.fault(-1, fmt.Sprintf("Decode needs a pointer that is not nil, got %T", v))
	}
	o, err := objectOf(t)
	if err != nil {
		return p.fault(-1, err.Error())
	}
	o.typ.Zero(at)
	s := p.sessions.Get().(*session)
	s.memory = memory{data: data}
	d := decoder{TProtocol: s.protocol, memory: &s.memory, codec: p}
	d.object(o, at, layout.MaxDepth)
	if rest := len(data) - s.memory.pos; rest > 0 {
		d.fail(fmt.Sprintf("%d bytes after the end of the value", rest))
	}
	s.memory = memory{}
	if d.failed != nil {
		return d.failed
	}
	p.sessions.Put(s)
	return nil
}

// fault makes an error of this codec at an unknown place. The path is put before it on the way out.
func (p *protocol) fault(offset int, text string) *codec.Error {
	return &codec.Error{Codec: p.name, Offset: int64(offset), Message: text}
}
