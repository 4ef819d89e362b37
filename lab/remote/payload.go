package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// payloadBytes is the length of a payload: two bytes with its caller's number, then eight with its own.
const payloadBytes = 10

// checked makes an operation of an echo: a payload that no other caller sends, and this one never again, comes back the same.
func checked(e echo, caller int) func() error {
	var sequence uint64
	return func() error {
		sequence++
		request := make([]byte, 0, payloadBytes)
		request = binary.LittleEndian.AppendUint16(request, uint16(caller))
		request = binary.LittleEndian.AppendUint64(request, sequence)
		reply, err := e(request)
		if err != nil {
			return err
		}
		if !bytes.Equal(reply, request) {
			return fmt.Errorf("caller %d sent %x and got %x", caller, request, reply)
		}
		return nil
	}
}

// callerOf is the caller whose payload it is.
func callerOf(payload []byte) (int, bool) {
	if len(payload) != payloadBytes {
		return 0, false
	}
	return int(binary.LittleEndian.Uint16(payload)), true
}
