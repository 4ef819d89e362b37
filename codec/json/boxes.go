package json

import "unsafe"

// boxes makes values of type any. Go takes memory for each value that it puts into one; here those of a text share some.
// What is kept of a text holds a whole piece, so the pieces are small and only short strings lie in them.
type boxes struct {
	floats []float64
	texts  []string
}

// Each piece is twice as large as the one before it, from firstBoxes to maxBoxes values.
const (
	firstBoxes = 2
	maxBoxes   = 8
)

// maxBoxed is the length up to which strings share a piece.
const maxBoxed = 256

// anyHeader is the memory layout of a value of type any.
type anyHeader struct {
	typ, data unsafe.Pointer
}

func typeIn(v any) unsafe.Pointer { return (*anyHeader)(unsafe.Pointer(&v)).typ }

var floatType, textType = typeIn(float64(0)), typeIn("")

// wholes are the numbers that occur most.
var wholes = func() (f [256]float64) {
	for i := range f {
		f[i] = float64(i)
	}
	return f
}()

// whole returns n, which is one of wholes, as a float64.
func whole(n uint64) (v any) {
	*(*anyHeader)(unsafe.Pointer(&v)) = anyHeader{floatType, unsafe.Pointer(&wholes[n])}
	return v
}

func (b *boxes) float(f float64) (v any) {
	if len(b.floats) == cap(b.floats) {
		b.floats = make([]float64, 0, min(max(2*cap(b.floats), firstBoxes), maxBoxes))
	}
	b.floats = append(b.floats, f)
	*(*anyHeader)(unsafe.Pointer(&v)) = anyHeader{floatType, unsafe.Pointer(&b.floats[len(b.floats)-1])}
	return v
}

func (b *boxes) text(s string) (v any) {
	if len(s) > maxBoxed || s == "" {
		return s
	}
	if len(b.texts) == cap(b.texts) {
		b.texts = make([]string, 0, min(max(2*cap(b.texts), firstBoxes), maxBoxes))
	}
	b.texts = append(b.texts, s)
	*(*anyHeader)(unsafe.Pointer(&v)) = anyHeader{textType, unsafe.Pointer(&b.texts[len(b.texts)-1])}
	return v
}
