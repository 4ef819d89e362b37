package bus

import (
	"testing"
)

// Packet makes a message as hubs send them.
func Packet(k byte, toDialler bool, session [16]byte, at, taken uint64, text []byte) []byte {
	p := packet{kind: kind(k), toDialler: toDialler, session: session, at: at, taken: taken, text: text}
	return p.append(nil)
}

// KindAndOffset reads a message of another hub.
func KindAndOffset(t *testing.T, message []byte) (byte, uint64) {
	t.Helper()
	p, err := parse(message)
	if err != nil {
		t.Fatal(err)
	}
	return byte(p.kind), p.at
}

// CheckParse reports whether what is read from a message is the same when it is written again.
func CheckParse(t *testing.T, message []byte) {
	p, err := parse(message)
	if err != nil {
		return
	}
	again, err := parse(p.append(nil))
	if err != nil || again.kind != p.kind || again.toDialler != p.toDialler || again.session != p.session || again.at != p.at ||
		again.taken != p.taken || string(again.text) != string(p.text) {
		t.Errorf("%x is read as %+v, and written again as %+v, %v", message, p, again, err)
	}
}

// Unproven is how many sessions wait for their other side to show that it has the keys.
func (h *Hub) Unproven() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.unproven)
}

// Inbox is the subject of the hub's packets.
func (h *Hub) Inbox() string { return h.inbox }

// Arrived has the hub take a message to its inbox.
func (h *Hub) Arrived(message []byte) { h.arrived(message) }

const OpenLimit = openLimit

// parse takes a message apart. The text stays part of it.
func parse(message []byte) (p packet, err error) {
	if p, err = parseHead(message); err != nil {
		return p, err
	}
	return p, p.parseRest(message[headSize:])
}
