package wire

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rounds is n, or some of them where go test was given -short.
func rounds(n int) int {
	if testing.Short() {
		return n / 6
	}
	return n
}
