package wire

import "encoding/binary"

// Pair is a name and a value that go back with an answer, beside its value or its error. The owners of the two nodes agree on what the
// names mean.
type Pair struct{ Name, Value string }

// MaxPairs bounds the bytes of the pairs of an answer, lengths included, so that they and the longest failure fit in one frame.
const MaxPairs = 16 << 10

// Answer sets the pairs that go back with the answer, for a caller that takes them (Meta.TakesPairs); for any other, and beyond MaxPairs,
// it does nothing and returns false. It is called before Reply or Fail.
func (in *Inbound) Answer(pairs []Pair) bool {
	if !in.TakesPairs || in.answered || len(appendPairs(nil, pairs)) > MaxPairs {
		return false
	}
	in.pairs = pairs
	return true
}

// appendPairs appends pairs as they stand before the value of a reply or before a failure.
func appendPairs(dst []byte, pairs []Pair) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(pairs)))
	for _, p := range pairs {
		dst = appendString(appendString(dst, p.Name), p.Value)
	}
	return dst
}

// pairs reads those of an answer with the flags.
func (f *fields) pairs(flags uint8) ([]Pair, error) {
	if flags&flagMetadata == 0 {
		return nil, nil
	}
	before := len(f.left)
	n := f.number(min(len(f.left), MaxPairs) / 2)
	pairs := make([]Pair, 0, min(n, 64))
	for range n {
		pairs = append(pairs, Pair{Name: f.string(), Value: f.string()})
		if f.bad {
			break
		}
	}
	if f.bad || before-len(f.left) > MaxPairs {
		return nil, protocolError("the pairs of an answer cannot be read")
	}
	return pairs, nil
}
