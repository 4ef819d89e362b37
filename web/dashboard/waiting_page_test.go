//go:build !race

package dashboard

import (
	"fmt"
	"testing"
)

func TestWhatServicesWaitForIsShownInABrowser(t *testing.T) {
	n := openWaiting(t)
	b := openBrowser(t, "http://"+n.HTTPAddr()+"/dashboard")
	for path, says := range map[string]string{
		"":              "no users",
		"nodes/waiting": "orders depends on users",
		"health":        "1 dependency is missing.",
	} {
		b.view(path)
		b.Until(fmt.Sprintf(`document.querySelector('main').innerText.includes(%q)`, says))
	}
}
