package http

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/gobwas/ws"
)

// frame is the bytes of a frame as a client sends it, with a mask that changes something.
func frame(op ws.OpCode, fin bool, payload string) []byte {
	f := ws.MaskFrameWith(ws.NewFrame(op, fin, []byte(payload)), [4]byte{1, 2, 3, 4})
	return ws.MustCompileFrame(f)
}

func newDeframer(pings *[]string) *deframer {
	return &deframer{state: ws.StateServerSide, ping: func(p []byte) { *pings = append(*pings, string(p)) }}
}

// inParts has a deframer take a copy of stream, size bytes at a time.
func inParts(d *deframer, stream []byte, size int) ([]byte, error) {
	var got []byte
	for part := range slices.Chunk(bytes.Clone(stream), size) {
		n, err := d.take(part)
		got = append(got, part[:n]...)
		if err != nil {
			return got, err
		}
	}
	return got, nil
}

func TestPayloadsComeOutWhateverTheReads(t *testing.T) {
	long, longer := string(bytes.Repeat([]byte("long "), 100)), string(bytes.Repeat([]byte("longer "), 20_000))
	stream := slices.Concat(
		frame(ws.OpBinary, true, "one"),
		frame(ws.OpPing, true, "are you there"),
		frame(ws.OpBinary, true, ""),
		frame(ws.OpBinary, false, "in "),
		frame(ws.OpPing, true, ""),
		frame(ws.OpContinuation, false, "several "),
		frame(ws.OpPong, true, "nobody asked"),
		frame(ws.OpContinuation, true, "frames"),
		frame(ws.OpBinary, true, long),
		frame(ws.OpBinary, true, longer),
		frame(ws.OpClose, true, "\x03\xe8"),
		[]byte("what follows the end counts for nothing"),
	)
	for _, size := range []int{1, 2, 3, 7, 14, 100, 4096, len(stream)} {
		var pings []string
		d := newDeframer(&pings)
		got, err := inParts(d, stream, size)
		if err != nil || string(got) != "onein several frames"+long+longer {
			t.Errorf("%d bytes at a time: %d bytes came out, %v", size, len(got), err)
		}
		if !d.done {
			t.Errorf("%d bytes at a time: the end was not seen", size)
		}
		if !slices.Equal(pings, []string{"are you there", ""}) {
			t.Errorf("%d bytes at a time: pings %q", size, pings)
		}
	}
}

func TestFramesThatBreakTheProtocolAreErrors(t *testing.T) {
	unmasked := ws.MustCompileFrame(ws.NewBinaryFrame([]byte("x")))
	reserved := frame(ws.OpBinary, true, "x")
	reserved[0] |= 0x40
	for _, test := range []struct {
		name   string
		stream []byte
		want   error
	}{
		{"not masked", unmasked, ws.ErrProtocolMaskRequired},
		{"a reserved bit", reserved, ws.ErrProtocolNonZeroRsv},
		{"a reserved opcode", frame(3, true, "x"), ws.ErrProtocolOpCodeReserved},
		{"nothing to continue", frame(ws.OpContinuation, true, "x"), ws.ErrProtocolContinuationUnexpected},
		{"a message within a message", append(frame(ws.OpBinary, false, "x"), frame(ws.OpBinary, true, "y")...), ws.ErrProtocolContinuationExpected},
		{"a long ping", frame(ws.OpPing, true, string(make([]byte, 126))), ws.ErrProtocolControlPayloadOverflow},
		{"a ping in parts", frame(ws.OpPing, false, "x"), ws.ErrProtocolControlNotFinal},
		{"text", frame(ws.OpText, true, "x"), errText},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := inParts(newDeframer(new([]string)), test.stream, len(test.stream)); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestAFrameMayClaimTheLongestLengthThereIs(t *testing.T) {
	header := []byte{0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}
	got, err := inParts(newDeframer(new([]string)), append(header, "so far"...), 100)
	if err != nil || string(got) != "so far" {
		t.Errorf("got %q, %v", got, err)
	}
}

// FuzzDeframer holds that what comes out does not depend on how the bytes came in.
func FuzzDeframer(f *testing.F) {
	f.Add(slices.Concat(frame(ws.OpBinary, true, "one"), frame(ws.OpPing, true, "x"), frame(ws.OpClose, true, "")), uint8(1))
	f.Add(frame(ws.OpBinary, false, string(make([]byte, 300))), uint8(200))
	f.Add([]byte{0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0}, uint8(3))
	f.Add([]byte{0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 'x'}, uint8(3))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		var wholePings, partPings []string
		whole, parts := newDeframer(&wholePings), newDeframer(&partPings)
		got, err := inParts(whole, stream, max(1, len(stream)))
		again, errAgain := inParts(parts, stream, max(1, int(size)))
		if !bytes.Equal(got, again) || (err == nil) != (errAgain == nil) || whole.done != parts.done || !slices.Equal(wholePings, partPings) {
			t.Errorf("whole: %q, %v, %q; in parts: %q, %v, %q", got, err, wholePings, again, errAgain, partPings)
		}
	})
}
