//go:build unix

package micro_test

import (
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/internal/brokers"
)

func TestAServiceThatHangsGetsNoCallsAfterSome(t *testing.T) {
	hangs, other := startPeer(t, "v5"), startPeer(t, "v5")
	n := node(t, nil, micro.Static("lab", []string{hangs.address, other.address}, labEndpoints...))
	if err := brokers.Suspend(hangs.process.Process); err != nil {
		t.Fatal(err)
	}
	inARow := 0
	waitFor(t, "the time in which all calls go to the other", func() bool {
		if _, err := sabir.Call[labOut](t.Context(), n, "lab.add", labIn{}, sabir.WithTimeout(100*time.Millisecond)); err != nil {
			inARow = 0
		} else {
			inARow++
		}
		return inARow >= 50
	})
}
