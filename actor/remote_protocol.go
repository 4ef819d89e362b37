package actor

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sabir-go/sabir"
)

// linkTopic is the topic of the posts by which the systems of two nodes talk; see mesh.Extension.
const linkTopic uint8 = 16

// protocolVersion goes into each hello. Systems of another version are never up.
const protocolVersion = 2

// opcode is the first byte of each post. docs/processes-protocol.md describes what follows it.
type opcode byte

// An opcode is the first byte of a post. docs/processes-protocol.md specifies what follows.
const (
	opHello     opcode = 1  // node and run; the first post of a session in each direction
	opDeclare   opcode = 2  // a type gets its number
	opSend      opcode = 3  // messages
	opConfirmed opcode = 4  // a message that is to be acknowledged
	opCall      opcode = 5  // a call
	opAnswer    opcode = 6  // its answer
	opFailure   opcode = 7  // the error of a call, a confirmed message or a spawn
	opDone      opcode = 8  // a confirmed message is in its mailbox
	opCancel    opcode = 9  // the caller no longer waits
	opExit      opcode = 10 // the end of a process that is linked, or the order to end
	opKill      opcode = 11
	opLink      opcode = 12
	opUnlink    opcode = 13
	opWatch     opcode = 14
	opUnwatch   opcode = 15
	opDown      opcode = 16 // a process that is monitored has ended
	opSpawn     opcode = 17
	opSpawned   opcode = 18
)

// These constants bound what a peer may send.
const (
	maxDeclared      = 4096     // types of a session in each direction
	maxDeclaredBytes = 16 << 20 // names and schemas of a session
	maxTypeName      = 1024
	maxErrorText     = 16 << 10 // longer messages of errors are cut
	maxErrorData     = 64 << 10 // longer data of errors does not travel
	maxPairs         = 1024     // metadata of a call
	postBytes        = 60 << 10 // of messages that go together; a longer one goes alone
)

// How the address of a post is written.
const (
	byID    = 0
	byName  = 1
	byAlias = 2
)

// appendAddress appends the address of a post: a PID, a name or an alias.
func appendAddress(dst []byte, to PID) []byte {
	h := to.home.Value()
	switch {
	case h.name != "":
		return appendText(append(dst, byName), h.name)
	case h.alias != 0:
		return binary.LittleEndian.AppendUint64(append(dst, byAlias), h.alias)
	}
	return binary.LittleEndian.AppendUint64(append(dst, byID), to.id)
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

func appendID(dst []byte, id uint64) []byte { return binary.LittleEndian.AppendUint64(dst, id) }

const (
	errorRetryable = 1
	errorNone      = 2 // nil
)

// appendError appends an error in its wire form: code, flags, name, message, node, and data as JSON. Errors that it wraps are
// not sent.
func appendError(dst []byte, err error, node string, log faultLog) []byte {
	e := errorOf(err)
	if e == nil {
		return append(dst, 0, errorNone)
	}
	var flags byte
	if e.Retryable {
		flags = errorRetryable
	}
	if e.Node != "" {
		node = e.Node
	}
	data := errorData(e.Data, log)
	dst = append(dst, byte(e.Code), flags)
	dst = appendText(dst, e.Name[:min(len(e.Name), maxName)])
	dst = appendText(dst, e.Message[:min(len(e.Message), maxErrorText)])
	dst = appendText(dst, node)
	return appendText(dst, string(data))
}

// reasons holds errors of this package by name. Read from the wire they become the same variables again, because processes
// compare reasons with ==.
var reasons = func() map[string]*sabir.Error {
	known := map[string]*sabir.Error{}
	for _, e := range []*sabir.Error{ErrNormal, ErrShutdown, ErrKilled, ErrNoProcess, ErrNoConnection, ErrMailboxFull, ErrNotHandled, ErrCallTimeout} {
		known[e.Name] = e
	}
	return known
}()

// postReader reads the fields of a post. A missing field reads as zero and sets bad, so that callers check once, at the end.
type postReader struct {
	data []byte
	bad  bool
}

var errMalformed = errors.New("malformed post")

// end returns an error if something was missing or is left over.
func (p *postReader) end() error {
	if p.bad || len(p.data) > 0 {
		return errMalformed
	}
	return nil
}

func (p *postReader) take(n uint64) []byte {
	if p.bad || n > uint64(len(p.data)) {
		p.bad = true
		return nil
	}
	taken := p.data[:n:n]
	p.data = p.data[n:]
	return taken
}

func (p *postReader) byte() byte {
	if b := p.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (p *postReader) uint64() uint64 {
	if b := p.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (p *postReader) uvarint() uint64 {
	if len(p.data) > 0 && p.data[0] < 0x80 && !p.bad {
		v := uint64(p.data[0])
		p.data = p.data[1:]
		return v
	}
	v, n := binary.Uvarint(p.data)
	if n <= 0 || p.bad {
		p.bad = true
		return 0
	}
	p.data = p.data[n:]
	return v
}

// bytes reads a length and as many bytes. They are a part of the post and must be copied to be kept.
func (p *postReader) bytes() []byte { return p.take(p.uvarint()) }

func (p *postReader) text(limit int) string {
	b := p.bytes()
	if len(b) > limit {
		p.bad = true
		return ""
	}
	return string(b)
}

func (p *postReader) error() error {
	code, flags := p.byte(), p.byte()
	if flags&errorNone != 0 {
		return nil
	}
	e := &sabir.Error{Code: sabir.Code(code), Name: p.text(maxName), Message: p.text(maxErrorText)}
	e.Retryable, e.Node = flags&errorRetryable != 0, p.text(maxNodeName)
	if data := p.bytes(); len(data) > maxErrorData {
		p.bad = true
	} else if len(data) > 0 && json.Unmarshal(data, &e.Data) != nil {
		e.Data = nil
	}
	if e.Code > sabir.CodeUnauthenticated || e.Code == sabir.CodeOK {
		e.Code = sabir.CodeUnknown
	}
	if known := reasons[e.Name]; known != nil && known.Code == e.Code && known.Message == e.Message {
		return known
	}
	return e
}

// address is the receiver of a post.
type address struct {
	form byte
	id   uint64 // also of an alias
	name string
}

func (p *postReader) address() address {
	a := address{form: p.byte()}
	switch a.form {
	case byID, byAlias:
		a.id = p.uint64()
	case byName:
		a.name = p.text(maxName)
	default:
		p.bad = true
	}
	return a
}

// resolve returns the process at the address.
func (a address) resolve(s *System) (PID, error) {
	switch a.form {
	case byName:
		return resolveName(s, Name{Name: a.name})
	case byAlias:
		return resolveAlias(s, Alias{s.home, a.id})
	}
	if a.id == 0 {
		return PID{}, problem(ErrNoProcess, s.nodeName(), "the zero PID")
	}
	return PID{s.home, a.id}, nil
}

func (v opcode) String() string { return fmt.Sprintf("post %d", byte(v)) }
