package bus

// outgoing holds the messages that one side has sent and the other has not acknowledged. The conn's lock guards it.
type outgoing struct {
	sent           uint64 // offset of the next byte
	read           uint64 // by the other side, as far as it reported
	arrived        uint64 // at the other side, as far as it reported
	ended          bool   // sent includes where the stream ends
	unacknowledged []message
	spare          [][]byte // buffers of messages that were read

	busy int // messages of unread are being sent again: their buffers must stay as they are
}

// message is a packet of data as it is published.
type message struct {
	at   uint64
	size int // bytes of the stream in it
	data []byte
}

const (
	spareBuffers = 4
	spareSize    = 128 << 10
)

// buffer is an empty one with capacity for size bytes.
func (o *outgoing) buffer(size int) []byte {
	for i, b := range o.spare {
		if cap(b) >= size {
			last := len(o.spare) - 1
			o.spare[i], o.spare = o.spare[last], o.spare[:last]
			return b[:0]
		}
	}
	return make([]byte, 0, max(size, 4<<10))
}

func (o *outgoing) waiting() int { return int(o.sent - o.read) }

// add keeps a message that is about to be published.
func (o *outgoing) add(data []byte, size int) {
	o.unacknowledged = append(o.unacknowledged, message{o.sent, size, data})
	o.sent += uint64(size)
}

// confirm takes a report of the other side: how much arrived, and how much was read. It is false for an impossible report.
func (o *outgoing) confirm(arrived, read uint64) bool {
	if arrived > o.sent || read > o.sent {
		return false
	}
	o.arrived = max(o.arrived, arrived, read)
	o.read = max(o.read, read)
	done := 0
	for _, m := range o.unacknowledged {
		if m.at+uint64(m.size) > o.read {
			break
		}
		if o.busy == 0 && len(o.spare) < spareBuffers && cap(m.data) <= spareSize {
			o.spare = append(o.spare, m.data)
		}
		done++
	}
	clear(o.unacknowledged[:done])
	o.unacknowledged = o.unacknowledged[done:]
	if len(o.unacknowledged) == 0 {
		o.unacknowledged = nil
	}
	return true
}

// behind lists the messages from an offset on.
func (o *outgoing) behind(at uint64) []message {
	for i, m := range o.unacknowledged {
		if m.at >= at {
			return append([]message(nil), o.unacknowledged[i:]...)
		}
	}
	return nil
}
