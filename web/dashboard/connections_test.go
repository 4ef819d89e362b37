//go:build !race

package dashboard

import (
	"testing"

	"github.com/chromedp/chromedp"

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

func TestAStreamThatFallsSilentIsOpenedAgain(t *testing.T) {
	n := openNode(t, sabir.HTTP(":0", At("/dashboard")))
	b := openBrowser(t, "http://"+n.HTTPAddr()+"/dashboard")
	b.anew("events")
	b.Until(`document.querySelector('#status')?.dataset.kind === 'live'`)
	// A network that is gone: the stream neither brings something nor ends. Then a minute passes.
	b.Run(chromedp.Evaluate(`
		const real = EventSource, now = performance.now.bind(performance);
		let past = 0;
		performance.now = () => now() + past;
		window.EventSource = class { addEventListener() {} close() {} };
		document.dispatchEvent(new Event('visibilitychange')); // opens such a one
		past = 60000;`, nil))
	b.Until(`document.querySelector('#status')?.dataset.kind === 'lost'`)
	b.Run(chromedp.Evaluate(`window.EventSource = real; past = 120000;`, nil))
	b.Until(`document.querySelector('#status')?.dataset.kind === 'live'`)
}
