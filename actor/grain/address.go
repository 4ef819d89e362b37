package grain

import "github.com/cespare/xxhash/v2"

// Address names a grain: its kind and its key. It is comparable, may be kept and may be sent in messages.
type Address struct{ Kind, Key string }

// String is kind and key with "/" between them.
func (a Address) String() string { return a.Kind + "/" + a.Key }

// hash returns the hash that decides the owner of a grain, so it must be the same on all nodes. A kind has no zero byte in it.
func (a Address) hash() uint64 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString(a.Kind) // never fails
	_, _ = d.Write([]byte{0})
	_, _ = d.WriteString(a.Key)
	return d.Sum64()
}
