package wire

import "testing"

func TestASmallValueAfterALargeOneTakesNoLargeBuffer(t *testing.T) {
	const large = 1 << 20
	c := &Call{route: &Route{}}
	for _, step := range []struct {
		last     int
		expected int // the least capacity of the next buffer
	}{{100, 0}, {large, large}, {100, 0}, {large, large}, {2 * large, 2 * large}} {
		c.route.noteSize(step.last)
		c.out = nil
		buf := c.Buf()
		if cap(buf) < step.expected || step.expected == 0 && cap(buf) > keepCall {
			t.Errorf("after a value of %d bytes: a buffer of %d, want %d", step.last, cap(buf), step.expected)
		}
	}
}
