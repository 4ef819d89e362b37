//go:build !race

package dashboard

import (
	"testing"

	"github.com/sabir-go/sabir"
)

// TestAPageThatWasLeftHoldsNoConnection leaves more pages, which the browser keeps for a while, than it makes connections to one node.
func TestAPageThatWasLeftHoldsNoConnection(t *testing.T) {
	n := openNode(t, sabir.HTTP(":0", At("/dashboard")))
	b := openBrowser(t, "http://"+n.HTTPAddr()+"/dashboard")
	for range 7 {
		b.anew("events")
		b.Until(`document.querySelector('#status')?.dataset.kind === 'live'`)
	}
}
