//go:build unix

package micro_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/internal/brokers"
)

func TestAServiceThatHangsGetsNoCallsAfterSome(t *testing.T) {
	hangs, other := startPeer(t, "v5"), startPeer(t, "v5")
	n := node(t, nil, micro.Config{Services: map[string]micro.Service{"lab": {Addresses: []string{hangs.address, other.address}, Endpoints: labEndpoints}}})
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

func TestASubscriberThatHangsHasABoundOfEvents(t *testing.T) {
	topic := ownName("placed")
	hangs := startPeer(t, "v5", "-mdns", "-broker=http", "-subscribe="+topic)
	other := startPeer(t, "v5", "-mdns", "-broker=http", "-subscribe="+topic)
	n := node(t, nil, micro.Config{MDNS: true, Publish: []string{topic}})
	waitFor(t, "the subscribers", func() bool {
		count := 0
		for _, one := range n.Nodes() { // services of other tests are found too
			if strings.HasPrefix(one.ID, "micro.http.broker@") {
				count++
			}
		}
		return count == 2
	})
	if err := brokers.Suspend(hangs.process.Process); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range 600 {
		if err := sabir.Emit(t.Context(), n, topic, labIn{A: i + 1}); err != nil {
			refused++
		}
		next(t, "an event for the other subscriber", other.events)
	}
	if refused != 600-256 {
		t.Errorf("%d of 600 events were refused, want those above 256", refused)
	}
}
