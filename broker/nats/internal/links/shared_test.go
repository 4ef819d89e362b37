package links_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

func TestOfAGroupOneGetsEachMessageOfASubject(t *testing.T) {
	publisher := join(t, "nats://embedded:0", transport.Config{})
	const messages = 200
	var lock sync.Mutex
	got, byMember := map[string]int{}, map[int]int{}
	all := make(chan struct{}, 2*messages)
	var stops []func()
	for member := range 2 {
		shared := join(t, "nats://embedded:0", transport.Config{}).(transports.Sharer)
		stop, err := shared.SubscribeShared(t.Context(), "orders.*", "workers", func(data []byte) {
			lock.Lock()
			defer lock.Unlock()
			got[string(data)]++
			byMember[member]++
			all <- struct{}{}
		})
		if err != nil {
			t.Fatal(err)
		}
		stops = append(stops, stop)
	}
	for i := range messages {
		publish(t, publisher, "orders.placed", fmt.Sprint(i))
	}
	arrives := func() {
		t.Helper()
		select {
		case <-all:
		case <-time.After(waitLimit):
			t.Fatal("a message is missing")
		}
	}
	for range messages {
		arrives()
	}
	stops[0]() // from now on the other gets them
	lock.Lock()
	before := byMember[0]
	lock.Unlock()
	publish(t, publisher, "orders.placed", "last")
	arrives()
	lock.Lock()
	defer lock.Unlock()
	if byMember[0] != before || byMember[0] == 0 || byMember[1] == 0 || len(got) != messages+1 {
		t.Errorf("%d messages; by member %v, %d of the first before it stopped", len(got), byMember, before)
	}
	for text, times := range got {
		if times != 1 {
			t.Errorf("%s came %d times", text, times)
		}
	}
}
