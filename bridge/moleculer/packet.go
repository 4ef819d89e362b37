package moleculer

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sabir-go/sabir/codec/json"
)

// raw is a part of a packet that is not looked into.
type raw = stdjson.RawMessage

// head holds the two fields that begin every packet. A peer of another version drops a packet without an answer, so each is sent in the
// version of its receiver.
type head struct {
	Version string `json:"ver"`
	Sender  string `json:"sender"`
}

// origin describes the call in which a request or an event was made: its level, its metadata and its trace.
type origin struct {
	Meta      raw   `json:"meta"`
	Headers   raw   `json:"headers"` // since version 5
	Level     int   `json:"level"`
	Tracing   raw   `json:"tracing"`
	ParentID  loose `json:"parentID"`
	RequestID loose `json:"requestID"`
	Caller    loose `json:"caller"`
}

// The members of headers, and of meta before version 5, that belong to streams.
const (
	objectMode  = "$streamObjectMode"
	streamError = "$streamError"
	metaParams  = "$params" // what version 4 has in place of the params of a stream
)

// loose is a text that a program of Moleculer may have of another kind, since nothing there looks at it: a requestID that is a number. It then has the
// text of its JSON. A packet that was refused for it would leave its caller without an answer.
type loose string

// UnmarshalJSON takes any value.
func (l *loose) UnmarshalJSON(data []byte) error {
	var t *string
	switch {
	case json.Codec.Decode(data, &t) != nil:
		*l = loose(data)
	case t != nil:
		*l = loose(*t)
	}
	return nil
}

// milliseconds is a time limit, 0 for none. Moleculer's timers take a number that is a text, such as a variable of the environment.
type milliseconds float64

// UnmarshalJSON takes any value. One that is no number is no limit.
func (m *milliseconds) UnmarshalJSON(data []byte) error {
	limit, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	if err == nil && limit > 0 {
		*m = milliseconds(min(limit, maxTimeout))
	}
	return nil
}

func (m milliseconds) duration() time.Duration {
	return time.Duration(float64(m) * float64(time.Millisecond))
}

// truth is a boolean. Moleculer 0.14.0 writes 0 and "" for false where the params of a request are these.
type truth bool

// UnmarshalJSON takes any value.
func (t *truth) UnmarshalJSON(data []byte) error {
	*t = string(data) == "true"
	return nil
}

// inStream says which place in a stream a packet has: the first has the number 0, and the last has Stream false.
type inStream struct {
	Stream truth `json:"stream"`
	Seq    *int  `json:"seq"`
}

// request is REQ.
type request struct {
	head
	origin
	ID      raw          `json:"id"` // goes back as it came: the setting uidGenerator may make numbers
	Action  string       `json:"action"`
	Params  raw          `json:"params"`
	Timeout milliseconds `json:"timeout"`
	inStream
}

// response is RES.
type response struct {
	head
	ID      string     `json:"id"`
	Meta    raw        `json:"meta"`
	Headers raw        `json:"headers"`
	Success bool       `json:"success"`
	Data    raw        `json:"data"`
	Error   *wireError `json:"error"`
	inStream
}

// event is EVENT.
type event struct {
	head
	origin
	Event     string   `json:"event"`
	Data      raw      `json:"data"`
	Groups    []string `json:"groups"`
	Broadcast bool     `json:"broadcast"`
}

// heartbeat is HEARTBEAT, PING, PONG, DISCOVER and DISCONNECT, of which only the sender and the times count.
type heartbeat struct {
	head
	CPU  float64 `json:"cpu"`
	Time raw     `json:"time"`
	ID   raw     `json:"id"`
}

const (
	maxPacket = 64 << 20 // bytes
	maxID     = 256      // bytes of an id, of a node or of a request
)

// maxTimeout bounds the timeout of a request, in milliseconds: a day. More would not fit into a time.Duration.
const maxTimeout = 24 * 60 * 60 * 1000

// decode reads JSON as JavaScript writes it: a text that was cut within a character, such as an emoji, ends with half of it, which becomes U+FFFD.
func decode(data []byte, v any) error {
	err := json.Codec.Decode(data, v)
	if err == nil || !bytes.Contains(data, []byte(`\ud`)) && !bytes.Contains(data, []byte(`\uD`)) {
		return err
	}
	if whole := jsontext.Value(bytes.Clone(data)); whole.Format(jsontext.AllowInvalidUTF8(true)) == nil && json.Codec.Decode(whole, v) == nil {
		return nil
	}
	return err
}

func (h *head) sentBy() *head { return h }

func (h *head) payload() (string, *raw)     { return "", nil }
func (r *request) payload() (string, *raw)  { return "params", &r.Params }
func (r *response) payload() (string, *raw) { return "data", &r.Data }
func (e *event) payload() (string, *raw)    { return "data", &e.Data }

// hasID reports whether the request can be answered.
func (r *request) hasID() bool {
	return len(r.ID) <= maxID && len(r.ID) > 0 && string(r.ID) != "null" && string(r.ID) != `""`
}

func (h *head) check() error {
	switch {
	case h.Version != "4" && h.Version != "5":
		return fmt.Errorf("the protocol version is %.20q: this bridge speaks 4 and 5", h.Version)
	case badTopic(h.Sender):
		return fmt.Errorf("the sender %.100q is no id of a node", h.Sender)
	}
	return nil
}

// badTopic reports whether an id cannot be part of a topic on all brokers.
func badTopic(id string) bool {
	if id == "" || len(id) > maxID {
		return true
	}
	for i := range len(id) {
		switch c := id[i]; {
		case c <= ' ', c == '*', c == '>', c == '#', c == '+', c == '/', c >= 0x7f:
			return true
		}
	}
	return false
}

// present is a part of a packet that is JSON, and null where there is none.
func present(part raw) raw {
	if len(part) == 0 {
		return raw("null")
	}
	return part
}

// addMember adds a member, such as `"a":1`, to the JSON object that dst ends with.
func addMember(dst []byte, member string) []byte {
	if dst = dst[:len(dst)-1]; dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(dst, member...), '}')
}

// appendText appends a JSON text. Ids and names are nearly always plain, and then nothing is allocated for them.
func appendText(dst []byte, text string) []byte {
	if isPlain(text) {
		return append(append(append(dst, '"'), text...), '"')
	}
	dst, _ = json.Codec.Append(dst, strings.ToValidUTF8(text, "\ufffd")) // which writes any text that is UTF-8
	return dst
}

// isPlain reports whether a text stands in JSON as it is.
func isPlain(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ', c == '"', c == '\\', c == '<', c == '>', c == '&', c >= 0x7f:
			return false
		}
	}
	return true
}

// appendTextOrNull is appendText with null for none.
func appendTextOrNull(dst []byte, text string) []byte {
	if text == "" {
		return append(dst, "null"...)
	}
	return appendText(dst, text)
}
