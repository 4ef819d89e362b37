package message

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Blob carries a run of bytes: the echo of large messages and the messages of a stream.
type Blob struct{ Data []byte }

// Received has a server's counts at the end of a stream.
type Received struct{ Messages, Bytes int64 }

// markBytes is the length of the mark at the start of a blob, which says whose it is.
const markBytes = 8

// NewBytes returns size bytes, at least 8, that do not compress to nothing.
func NewBytes(size int) []byte {
	data := make([]byte, max(size, markBytes))
	for i := range data {
		data[i] = byte(i*7 + i>>8)
	}
	return data
}

// MarkBytes writes the caller and the sequence into the first 8 bytes.
func MarkBytes(data []byte, caller, sequence int) {
	binary.LittleEndian.PutUint32(data, uint32(caller))
	binary.LittleEndian.PutUint32(data[4:], uint32(sequence))
}

// CheckBytes says what is wrong with an echo of sent; with full it compares every byte, else the length and the mark.
func CheckBytes(sent, got []byte, full bool) error {
	if len(got) != len(sent) {
		return fmt.Errorf("echo has %d bytes, want %d", len(got), len(sent))
	}
	if !bytes.Equal(got[:markBytes], sent[:markBytes]) {
		return fmt.Errorf("echo of another call: mark %x, want %x", got[:markBytes], sent[:markBytes])
	}
	if full && !bytes.Equal(got, sent) {
		return fmt.Errorf("echo differs from what was sent")
	}
	return nil
}
