package wire

import "testing"

func TestLargeBuffersAreLongEnoughAndWasteAFifthAtMost(t *testing.T) {
	for _, n := range []int{0, 1, 128<<10 - 1, 128 << 10, 128<<10 + 1, 160<<10 + 1, 1 << 20, 1<<20 + 14, 3_500_000, 4 << 20, 4<<20 + 1, 40 << 20} {
		b := largeBuffer(n)
		const page = 8 << 10 // to which memory of this size is rounded
		if most := max(n*5/4, 128<<10) + page; len(b) != 0 || cap(b) < n || cap(b) > most {
			t.Errorf("for %d bytes: %d of %d, want at most %d", n, len(b), cap(b), most)
		}
	}
}

func TestEachLargeClassBeginsWhereItsSizeSays(t *testing.T) {
	for class := smallestLarge; class <= largestLarge; class++ {
		size := classSize(class)
		if largeClass(size) != class || largeClass(size-1) != class-1 {
			t.Errorf("class %d of %d bytes: they are of class %d, one less of %d", class, size, largeClass(size), largeClass(size-1))
		}
	}
}

func TestALargeBufferIsUsedAgainForAValueOfItsSize(t *testing.T) {
	const n = 1<<20 + 14
	largeBuffers.mu.Lock() // which other tests may have left full
	largeBuffers.free, largeBuffers.kept = nil, 0
	largeBuffers.mu.Unlock()
	b := largeBuffer(n)
	freeLarge(b)
	again := largeBuffer(n)
	if &b[:1][0] != &again[:1][0] {
		t.Error("it was another buffer")
	}
}
