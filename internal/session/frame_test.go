package session

import (
	"bytes"
	"strings"
	"testing"
)

// record collects the frames that a decoder found, as text, and joins the pieces of data.
type record struct{ bytes.Buffer }

func (r *record) frame(k kind, number int) error {
	r.Write([]byte{'<', byte(k), '>'})
	return nil
}
func (r *record) data(p []byte) { r.Write(p) }

func TestFramesThatMeanNothingAreRefused(t *testing.T) {
	for _, test := range []struct {
		name   string
		k      kind
		number int
		want   string
	}{
		{"another version", kindOpen, 2<<16 | 64, "version 2"},
		{"no window", kindAccept, version << 16, "window of 0"},
		{"no data", kindData, 0, "0 bytes"},
		{"much data", kindData, maxData + 1, "32769 bytes"},
		{"no credit", kindCredit, 0, "0 units"},
		{"much credit", kindCredit, MaxWindow + 1, "65536 units"},
		{"a number where none belongs", kindClose, 7, "number 7"},
		{"kind 0", 0, 0, "unknown kind 0"},
		{"kind 11", kindPong + 1, 0, "unknown kind 11"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var d decoder
			err := d.decode(appendFrame(nil, test.k, test.number), &record{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestWhatFitsTakesNoMoreUnitsThanAreFree(t *testing.T) {
	for free := 1; free <= 64; free++ {
		n := fitting(free)
		if n < 1 || n > maxData || units(n) > free {
			t.Errorf("%d units: %d bytes fit, which take %d", free, n, units(n))
		}
	}
}

func FuzzDecoderDoesNotCareWherePiecesEnd(f *testing.F) {
	f.Add(appendFrame(nil, kindOpen, version<<16|512), uint8(1))
	f.Add(append(appendFrame(nil, kindData, 3), "abc\x07\x00\x00\x00"...), uint8(5))
	f.Add([]byte{byte(kindData), 0xff, 0xff, 0xff}, uint8(2))
	f.Fuzz(func(t *testing.T, input []byte, size uint8) {
		var whole, pieces record
		var d decoder
		wantErr := d.decode(input, &whole)
		d = decoder{}
		var err error
		for rest := input; len(rest) > 0 && err == nil; {
			n := min(len(rest), int(size)+1)
			err = d.decode(rest[:n], &pieces)
			rest = rest[n:]
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("whole: %v, in pieces: %v", wantErr, err)
		}
		if !bytes.Equal(whole.Bytes(), pieces.Bytes()) {
			t.Fatalf("whole: %q, in pieces: %q", whole.Bytes(), pieces.Bytes())
		}
	})
}
