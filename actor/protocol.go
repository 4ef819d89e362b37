package actor

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sabir-go/sabir"
)

// Topic is the topic of the posts by which the systems of two nodes talk; see sabir.Extend.
const Topic uint8 = 16

// protocolVersion goes into each hello. Systems of another version are never up.
const protocolVersion = 1

// verb is the first byte of each post. docs/processes-protocol.md says what follows.
type verb byte

const (
	verbHello     verb = 1  // who this side is; the first of a session in each direction
	verbDeclare   verb = 2  // a type gets its number
	verbSend      verb = 3  // messages
	verbImportant verb = 4  // a message that is to be acknowledged
	verbCall      verb = 5  // a call
	verbAnswer    verb = 6  // its answer
	verbFailure   verb = 7  // the error of a call, an important message or a spawn
	verbDone      verb = 8  // an important message lies in its mailbox
	verbCancel    verb = 9  // a caller has given up
	verbExit      verb = 10 // the end of a process that is linked, or the order to end
	verbKill      verb = 11
	verbLink      verb = 12
	verbUnlink    verb = 13
	verbWatch     verb = 14
	verbUnwatch   verb = 15
	verbDown      verb = 16 // a process that is monitored has ended
	verbSpawn     verb = 17
	verbSpawned   verb = 18
)

// The bounds of what a peer may say.
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

// appendAddress appends where a post goes: a PID, or what stands for a name or an alias.
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

// appendError appends an error as it travels: code, flags, name, message, node and data in JSON. What it wraps stays here.
func appendError(dst []byte, err error, node string) []byte {
	e := sabir.AsError(err)
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
	var data []byte
	if e.Data != nil {
		if text, err := json.Marshal(e.Data); err == nil && len(text) <= maxErrorData {
			data = text
		}
	}
	dst = append(dst, byte(e.Code), flags)
	dst = appendText(dst, e.Name[:min(len(e.Name), maxName)])
	dst = appendText(dst, e.Message[:min(len(e.Message), maxErrorText)])
	dst = appendText(dst, node)
	return appendText(dst, string(data))
}

// reasons is the errors of this package by name: those of them that come over the wire are the same variables again, since
// processes compare reasons.
var reasons = func() map[string]*sabir.Error {
	known := map[string]*sabir.Error{}
	for _, e := range []*sabir.Error{ErrNormal, ErrShutdown, ErrKilled, ErrNoProcess, ErrNoConnection, ErrMailboxFull, ErrNotHandled, ErrCallTimeout} {
		known[e.Name] = e
	}
	return known
}()

// parcel is the rest of a post that is read. What it lacks reads as zero, and makes it bad.
type parcel struct {
	data []byte
	bad  bool
}

var errMalformed = errors.New("malformed post")

// end is an error where something was missing or is left over.
func (p *parcel) end() error {
	if p.bad || len(p.data) > 0 {
		return errMalformed
	}
	return nil
}

func (p *parcel) take(n uint64) []byte {
	if p.bad || n > uint64(len(p.data)) {
		p.bad = true
		return nil
	}
	taken := p.data[:n:n]
	p.data = p.data[n:]
	return taken
}

func (p *parcel) byte() byte {
	if b := p.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (p *parcel) uint64() uint64 {
	if b := p.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (p *parcel) uvarint() uint64 {
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

// bytes is bytes with their length before them: a part of the post.
func (p *parcel) bytes() []byte { return p.take(p.uvarint()) }

func (p *parcel) text(limit int) string {
	b := p.bytes()
	if len(b) > limit {
		p.bad = true
		return ""
	}
	return string(b)
}

func (p *parcel) error() error {
	code, flags := p.byte(), p.byte()
	if flags&errorNone != 0 {
		return nil
	}
	e := sabir.NewError(sabir.Code(code), p.text(maxName), p.text(maxErrorText))
	e.Retryable, e.Node = flags&errorRetryable != 0, p.text(maxNodeName)
	if data := p.bytes(); len(data) > maxErrorData {
		p.bad = true
	} else if len(data) > 0 && json.Unmarshal(data, &e.Data) != nil {
		e.Data = nil
	}
	if e.Code > sabir.Unauthenticated || e.Code == sabir.OK {
		e.Code = sabir.Unknown
	}
	if known := reasons[e.Name]; known != nil && known.Code == e.Code && known.Message == e.Message {
		return known
	}
	return e
}

// address is where a post goes, as its receiver reads it.
type address struct {
	form byte
	id   uint64 // also of an alias
	name string
}

func (p *parcel) address() address {
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

// find is the process that lives at an address.
func (s *System) find(a address) (PID, error) {
	switch a.form {
	case byName:
		return s.named(Name{Name: a.name})
	case byAlias:
		return s.aliased(Alias{s.home, a.id})
	}
	if a.id == 0 {
		return PID{}, problem(ErrNoProcess, s.homeName(), "the zero PID")
	}
	return PID{s.home, a.id}, nil
}

func (v verb) String() string { return fmt.Sprintf("post %d", byte(v)) }
