package engine

import (
	"encoding/json"
	"fmt"
	"time"
)

// Message is one message of a channel, as the broker keeps it.
type Message struct {
	Head
	Data []byte
	// Attributes are those of a CloudEvent in the binary mode, by their names, which the engine keeps beside the data where the protocol binding of
	// CloudEvents for its broker says. In the structured mode, and in messages of other programs, datacontenttype may stand alone: the media type of
	// the data. nil for none.
	Attributes map[string]string
}

// Head is the metadata of a message besides its data. It is kept as JSON beside the data, so that other programs, and
// those of later years, can read it.
type Head struct {
	// ID identifies the message. A publisher that sends a message twice gives it the same ID both times; engines
	// that can then keep it once.
	ID string `json:"id"`
	// Time is when it was published, by the publisher's clock.
	Time time.Time `json:"time,omitzero"`
	// Codec names the format of the data, as package codec does.
	Codec string `json:"codec,omitempty"`
	// Request is the id of the request in which it was published.
	Request string `json:"request,omitempty"`
	// Metadata goes with the message from the publisher's context to the handler's.
	Metadata map[string]string `json:"metadata,omitempty"`
	// Only names the one group that is to handle it, where others have done so: a dead-lettered message that is tried again.
	Only string `json:"only,omitempty"`
	// Original is the ID that a dead-lettered message had, where it is tried again. Such a message has an ID of its own, since brokers would take
	// it for a duplicate of the original.
	Original string `json:"original,omitempty"`
	// Dead describes why a message was dead-lettered; nil for all others.
	Dead *Dead `json:"dead,omitempty"`
}

// Dead describes why and where a message was dead-lettered.
type Dead struct {
	ID       string    `json:"id,omitempty"`       // that the message had there; "" where it had none
	Channel  string    `json:"channel"`            // where it was published
	Group    string    `json:"group"`              // of the consumers that gave it up
	Sequence uint64    `json:"sequence,omitempty"` // its place in that channel; 0 where the engine has none
	Attempts int       `json:"attempts"`           // how often it was handed out
	Code     string    `json:"code"`               // of the last error, such as "Internal"
	Reason   string    `json:"reason"`             // the last error's text
	Time     time.Time `json:"time"`               // when it was dead-lettered
	Node     string    `json:"node,omitempty"`     // by which node
}

// MaxHead bounds the bytes of an encoded head: 64 KiB.
const MaxHead = 64 << 10

// AppendHead appends the head as JSON in one line of printable characters.
func AppendHead(dst []byte, h *Head) ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return dst, fmt.Errorf("channel: the head of message %.100q: %w", h.ID, err)
	}
	if len(text) > MaxHead {
		return dst, fmt.Errorf("channel: the head of message %.100q has %d bytes, more than %d: carry less metadata: %w", h.ID, len(text), MaxHead, ErrTooLarge)
	}
	return append(dst, text...), nil
}

// ReadHead reads what AppendHead wrote. A message that another program put there may have no head: that of no bytes is
// empty.
func ReadHead(text []byte) (h Head, err error) {
	if len(text) == 0 {
		return h, nil
	}
	if len(text) > MaxHead {
		return h, fmt.Errorf("channel: a message's head has %d bytes, more than %d", len(text), MaxHead)
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return Head{}, fmt.Errorf("channel: a message's head cannot be read: %w", err)
	}
	return h, nil
}
