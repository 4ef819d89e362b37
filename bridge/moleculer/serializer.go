package moleculer

import (
	"fmt"
	"math"
	"strings"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
)

// serializer writes and reads packets. The bridge writes each as JSON, but for its payload: params or data. Where Moleculer's nodes use
// another serializer, the packet is translated at the broker, and the payload is in that form from the start, so that bytes and times keep
// their kinds.
type serializer struct {
	values codec.Codec // of payloads
	binary bool        // packets are not JSON
	null   raw         // as a payload
	layers []layer     // of compression and encryption, as Moleculer's nodes list them
}

func newSerializer(c codec.Codec) (*serializer, error) {
	if c == nil || c.Name() == json.Name {
		return &serializer{values: format, null: raw("null")}, nil
	}
	if c.Name() != "msgpack" && c.Name() != "cbor" {
		return nil, fmt.Errorf("%s: Moleculer's nodes are known to use json, msgpack and cbor", c.Name())
	}
	null, err := c.Append(nil, nil)
	return &serializer{values: codec.Contained(documents{c}), binary: true, null: null}, err
}

// documents is a binary codec in which a json.RawMessage is what its text means.
type documents struct{ codec.Codec }

func (d documents) Append(dst []byte, v any) ([]byte, error) {
	var text raw
	switch v := v.(type) {
	case raw:
		text = v
	case *raw:
		text = *v
	default:
		return d.append(dst, v)
	}
	var value any
	if err := json.Codec.Decode(present(text), &value); err != nil {
		return dst, err
	}
	return d.append(dst, value)
}

// append writes integers of more than 32 bits as floats where CBOR is meant: Moleculer's reader makes a BigInt of them, which is not a number.
func (d documents) append(dst []byte, v any) ([]byte, error) {
	start := len(dst)
	dst, err := d.Codec.Append(dst, v)
	if err == nil && d.Name() == "cbor" {
		withFloats(dst[start:])
	}
	return dst, err
}

func (d documents) Decode(data []byte, v any) error {
	to, ok := v.(*raw)
	if !ok {
		return d.Codec.Decode(data, v)
	}
	var value any
	if err := d.Codec.Decode(data, &value); err != nil {
		return err
	}
	text, err := format.Append(nil, value)
	*to = text
	return err
}

// present is a payload, and null where there is none: JavaScript's undefined has no form in JSON.
func (s *serializer) present(payload raw) raw {
	if len(payload) == 0 {
		return s.null
	}
	return payload
}

// carrier is a packet that may have a payload, under the name.
type carrier interface {
	sentBy() *head
	payload() (name string, at *raw)
}

// decode reads a packet and checks what every packet must have.
func (s *serializer) decode(data []byte, packet carrier) error {
	if len(data) > maxPacket {
		return fmt.Errorf("a packet of %d bytes: %d is the limit", len(data), maxPacket)
	}
	var err error
	for i := range s.layers {
		if data, err = s.layers[i].open(data); err != nil {
			return err
		}
	}
	if s.binary {
		if data, err = s.toJSON(data, packet); err != nil {
			return err
		}
	} else if quick, ok := packet.(scanner); ok && quick.scan(data) {
		return packet.sentBy().check()
	}
	if err := decode(data, packet); err != nil {
		return err
	}
	return packet.sentBy().check()
}

// signed reads of a packet, the rest of which cannot be read, who sent it and for which call. It is empty where that cannot be found.
func (s *serializer) signed(data []byte) (r request) {
	for i := range s.layers {
		var err error
		if data, err = s.layers[i].open(data); err != nil {
			return r
		}
	}
	if s.binary {
		return s.signedInBinary(data)
	}
	m := members{data: data}
	for name, more := m.next(); more; name, more = m.next() {
		m.seen = 1
		switch name {
		case "ver":
			r.Version = m.text()
		case "sender":
			r.Sender = strings.Clone(m.text())
		case "id":
			r.ID = m.plainPart()
		case "action":
			r.Action = m.text()
		default:
			m.part()
		}
	}
	if m.failed {
		return request{}
	}
	return r
}

// signedInBinary is signed for a binary serializer, whose codec passes over the other members.
func (s *serializer) signedInBinary(data []byte) request {
	var packet struct {
		Version string `json:"ver"`
		Sender  string `json:"sender"`
		ID      any    `json:"id"`
		Action  string `json:"action"`
	}
	if s.values.Name() == "cbor" {
		data = withoutMeanings(data)
	}
	if s.values.Decode(data, &packet) != nil {
		return request{}
	}
	id, err := json.Codec.Append(nil, packet.ID)
	if err != nil {
		return request{}
	}
	return request{head: head{packet.Version, packet.Sender}, ID: id, Action: packet.Action}
}

// toJSON translates a packet to JSON, but for the payload, which it stores as it is.
func (s *serializer) toJSON(data []byte, packet carrier) ([]byte, error) {
	var members map[string]any
	if err := s.values.Decode(data, &members); err != nil {
		if s.values.Name() != "cbor" || s.values.Decode(mended(data), &members) != nil {
			return nil, err
		}
	}
	if name, at := packet.payload(); at != nil {
		if value, there := members[name]; there {
			var err error
			if *at, err = s.values.Append(nil, value); err != nil {
				return nil, err
			}
			delete(members, name)
		}
	}
	text, err := json.Codec.Append(nil, members)
	if err != nil {
		text, err = json.Codec.Append(nil, finite(members))
	}
	return text, err
}

// finite puts nil in the place of the numbers within a value that JSON has not, as JSON.stringify does.
func finite(value any) any {
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = finite(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = finite(v[key])
		}
	}
	return value
}

// writing is a packet that is being written.
type writing struct {
	as    *serializer
	out   []byte // JSON: without the last brace, and without the payload of a binary packet
	name  string // of the payload
	value []byte // the payload of a binary packet
}

// payload adds what write appends.
func (w *writing) payload(name string, write func(dst []byte) ([]byte, error)) (err error) {
	if w.as.binary {
		w.name = name
		w.value, err = write(w.value[:0])
		return err
	}
	w.out, err = write(append(append(append(w.out, `,"`...), name...), `":`...))
	return err
}

// truncate takes back what was written after the first n bytes of out, and the payload.
func (w *writing) truncate(n int) {
	w.out, w.name = w.out[:n], ""
}

// packet ends the packet and returns it.
func (w *writing) packet() ([]byte, error) {
	w.out = append(w.out, '}')
	return w.as.fromJSON(w.out, w.name, w.value)
}

// fromJSON makes a packet as it is sent of its JSON, and adds the payload, if it has a name.
func (s *serializer) fromJSON(text []byte, name string, payload []byte) (packet []byte, err error) {
	packet = text
	if s.binary {
		packet, err = s.translate(text, name, payload)
	}
	for i := len(s.layers) - 1; i >= 0 && err == nil; i-- {
		packet, err = s.layers[i].seal(packet)
	}
	return packet, err
}

// translate is fromJSON for a binary serializer.
func (s *serializer) translate(text []byte, name string, payload []byte) ([]byte, error) {
	var members map[string]any
	if err := json.Codec.Decode(text, &members); err != nil {
		return nil, err
	}
	n := len(members)
	if name != "" {
		n++
	}
	dst := s.appendMap(make([]byte, 0, len(text)+len(payload)+16), n)
	var err error
	for key, value := range members {
		if dst, err = s.values.Append(dst, key); err == nil {
			dst, err = s.values.Append(dst, value)
		}
		if err != nil {
			return nil, err
		}
	}
	if name != "" {
		dst, err = s.values.Append(dst, name)
		dst = append(dst, payload...)
	}
	return dst, err
}

// appendMap appends what comes before n members, of which a packet has fewer than 256.
func (s *serializer) appendMap(dst []byte, n int) []byte {
	if s.values.Name() == "cbor" {
		if n < 24 {
			return append(dst, 0xa0|byte(n))
		}
		return append(dst, 0xb8, byte(n))
	}
	if n < 16 {
		return append(dst, 0x80|byte(n))
	}
	return append(dst, 0xde, 0, byte(n))
}
