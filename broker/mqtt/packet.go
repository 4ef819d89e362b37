package mqtt

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/eclipse/paho.golang/packets"
)

const (
	largestMessage = 16 << 20     // bytes, where the broker itself has no smaller limit
	largestHeader  = 16 + 200     // of a PUBLISH packet: what is not its payload
	largestControl = 128 << 10    // of a packet of another type
	quality1       = byte(1 << 1) // in the flags of PUBLISH (section 3.3.1)
	qualities      = byte(1<<1 | 1<<2)
)

// appendPublish appends a PUBLISH packet up to its payload (section 3.3). An id of 0 is quality of service 0.
func appendPublish(to []byte, subject string, separator byte, id uint16, payload int) []byte {
	flags, length := byte(0), 2+len(subject)+1+payload
	if id != 0 {
		flags, length = quality1, length+2
	}
	to = append(to, packets.PUBLISH<<4|flags)
	to = binary.AppendUvarint(to, uint64(length)) // the same as a Variable Byte Integer, up to 4 bytes
	to = binary.BigEndian.AppendUint16(to, uint16(len(subject)))
	to = appendTopic(to, subject, separator)
	if id != 0 {
		to = binary.BigEndian.AppendUint16(to, id)
	}
	return append(to, 0) // no properties
}

// appendTopic appends the topic of a subject, with the separator between its words.
func appendTopic(to []byte, subject string, separator byte) []byte {
	for _, c := range []byte(subject) {
		if c == '.' {
			c = separator
		}
		to = append(to, c)
	}
	return to
}

// readHeader reads the first byte of a packet and the length of what follows (section 2.1).
func readHeader(r *bufio.Reader) (first byte, length int, err error) {
	if first, err = r.ReadByte(); err != nil {
		return 0, 0, err
	}
	length, _, err = readVariable(r)
	return first, length, err
}

// readPublish reads a PUBLISH packet after its header. find is given the topic, which is not kept, and reports whether the
// message is wanted; what is not wanted is skipped, and payload is nil.
func readPublish(r *bufio.Reader, first byte, length int, find func(topic []byte) bool) (payload []byte, err error) {
	if first&qualities != 0 {
		return nil, errors.New("a message came with another quality of service than was subscribed to")
	}
	if length < 3 || length > largestMessage+largestHeader {
		return nil, fmt.Errorf("a PUBLISH packet of %d bytes", length)
	}
	size, err := r.Peek(2)
	if err != nil {
		return nil, unfinished(err)
	}
	name := 2 + int(binary.BigEndian.Uint16(size))
	if name >= length || name > 1024 { // subjects have at most 200
		return nil, fmt.Errorf("a PUBLISH packet of %d bytes with a topic of %d", length, name-2)
	}
	topic, err := r.Peek(name)
	if err != nil {
		return nil, unfinished(err)
	}
	wanted := find(topic[2:])
	r.Discard(name)
	length -= name
	properties, bytes, err := readVariable(r)
	if err != nil {
		return nil, err
	}
	if length -= bytes; properties > length {
		return nil, fmt.Errorf("a PUBLISH packet with %d bytes of properties, which are more than it has", properties)
	}
	length -= properties
	if !wanted {
		properties += length
	}
	if _, err := r.Discard(properties); err != nil {
		return nil, unfinished(err)
	}
	if !wanted {
		return nil, nil
	}
	payload = make([]byte, length)
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, unfinished(err)
	}
	return payload, nil
}

// readVariable reads a Variable Byte Integer (section 1.5.5), and returns how many bytes it had.
func readVariable(r *bufio.Reader) (value, bytes int, err error) {
	for bytes < 4 {
		c, err := r.ReadByte()
		if err != nil {
			return 0, 0, unfinished(err)
		}
		value |= int(c&0x7f) << (7 * bytes)
		bytes++
		if c < 0x80 {
			return value, bytes, nil
		}
	}
	return 0, 0, errors.New("a number has more than 4 bytes")
}

// readControl reads a packet that is not PUBLISH, after its header.
func readControl(r *bufio.Reader, first byte, length int) (packets.Packet, error) {
	if length > largestControl {
		return nil, fmt.Errorf("a packet of type %d with %d bytes", first>>4, length)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, unfinished(err)
	}
	control := packets.NewControlPacket(first >> 4)
	if control == nil {
		return nil, fmt.Errorf("a packet of the unknown type %d", first>>4)
	}
	if err := control.Content.Unpack(bytes.NewBuffer(body)); err != nil {
		return nil, fmt.Errorf("a %s packet that cannot be read: %w", control.PacketType(), err)
	}
	return control.Content, nil
}

// unfinished is the error of a packet that ends too early.
func unfinished(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
