package json

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// strconv is the judge: the texts are the shortest ones of floats, decimals of all lengths, and those next to the middle
// between two floats.
func TestFloatsAreReadAsStrconvDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	check := func(text string) {
		t.Helper()
		for _, bits := range []int{32, 64} {
			r := reader{data: []byte(text)}
			var d digits
			if !r.digits(&d) {
				t.Fatalf("%s: not read", text)
			}
			want, err := strconv.ParseFloat(text, bits)
			got, ok := d.float64()
			if bits == 32 {
				var short float32
				short, ok = d.float32()
				got = float64(short)
			}
			if ok != (err == nil) || ok && (got != want || math.Signbit(got) != math.Signbit(want)) {
				t.Fatalf("%s, %d bits: got %v, want %v", text, bits, got, want)
			}
		}
	}
	for range 10_000 {
		if f := math.Float64frombits(random.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			check(strconv.FormatFloat(f, 'g', -1, 64))
		}
		check(strconv.FormatFloat(random.NormFloat64()*math.Pow10(random.IntN(20)-10), 'f', -1, 64))
		n := fmt.Sprint(random.Uint64() >> random.IntN(64))
		at := random.IntN(len(n) + 1)
		check("0." + strings.Repeat("0", random.IntN(12)) + n)
		if at > 0 && at < len(n) && n[0] != '0' {
			check("-" + n[:at] + "." + n[at:])
		}
		// Odd numbers of 54 bits are in the middle between two floats; a power of five makes them decimals.
		middle := random.Uint64()>>11 | 1<<53 | 1
		check(fmt.Sprint(middle) + ".0")
		check(fmt.Sprint(middle/2) + ".5")
		check(fmt.Sprint(middle) + fmt.Sprintf("e-%d", random.IntN(28)))
	}
}

func TestDigitsAreReadEightAtATime(t *testing.T) {
	for _, text := range []string{"", "1", "12345678", "123456789", "1234567890123456", "00000000", "99999999", "1234567a", "12345678:2345678", "/2345678", "1234567\xf3", "\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7"} {
		length := len(text) - len(strings.TrimLeft(text, "0123456789"))
		want, _ := strconv.ParseUint(text[:length], 10, 64)
		if n, end := run([]byte(text), 0, 0); n != want || end != length {
			t.Errorf("%q: got %d, ending at %d, want %d, ending at %d", text, n, end, want, length)
		}
	}
}

func TestStringsAreScannedEightBytesAtATime(t *testing.T) {
	for b := range 256 {
		for at := range 20 {
			text := []byte(strings.Repeat("a", 20))
			text[at] = byte(b)
			plain, free := len(text), len(text)
			if b < ' ' || b == '"' || b == '\\' {
				plain, free = at, at
			} else if b >= 0x80 {
				plain = at
			}
			if got := plainPrefix(text); got != plain {
				t.Errorf("byte %#x at %d: %d are plain, want %d", b, at, got, plain)
			}
			if got := untilSyntax(text); got != free {
				t.Errorf("byte %#x at %d: %d before syntax, want %d", b, at, got, free)
			}
			for other := range text[:at] {
				mixed := append([]byte(nil), text...)
				mixed[other] = 0xff
				if got := untilSyntax(mixed); got != free {
					t.Errorf("byte %#x at %d behind 0xff at %d: %d before syntax, want %d", b, at, other, got, free)
				}
			}
		}
	}
}

// The names of one text stay where they are, whatever comes after them.
func TestNamesAreCopiedOnceAndBounded(t *testing.T) {
	var n names
	first := n.of([]byte("name"))
	b := make([]byte, 8)
	for i := range 1000 {
		binary.LittleEndian.PutUint64(b, uint64(i)*0x9e3779b97f4a7c15)
		if got := n.of(b); got != string(b) {
			t.Fatalf("got %q, want %q", got, b)
		}
	}
	clear(b)
	if first != "name" || n.of([]byte("")) != "" {
		t.Error("a name has changed")
	}
	if allocations := testing.AllocsPerRun(10, func() { n.of(b) }); allocations != 0 {
		t.Errorf("a known name takes %v allocations", allocations)
	}
}
