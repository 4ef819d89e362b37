package channel_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/memory"
)

func TestAConsumerAsksForNoMoreMessagesThanThereIsMemoryFor(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := parcels(t)
		n := startNode(t, channel.Broker("mem://"+t.Name()), sabir.Limits{NodeBuffers: 8 << 20}) // of which a consumer may hold one MiB
		const all = 20
		for i := range all {
			if _, err := c.Publish(t.Context(), n, article{ID: i, Name: strings.Repeat("x", 200<<10)}); err != nil {
				t.Fatal(err)
			}
		}
		release := make(chan struct{})
		begun := make(chan int, all)
		s := sabir.NewService("billing")
		c.ConsumeWith(s, channel.Consumer{MaxInFlight: 100}, func(_ context.Context, p article) error {
			begun <- p.ID
			<-release
			return nil
		})
		if err := n.Add(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		bubbletest.Wait()
		if len(begun) != 5 {
			t.Errorf("%d messages of 200 KiB are handled at once", len(begun))
		}
		if used := memory.OfNode(n).Usage().Bytes; used < 5*200<<10 || used > 1<<20 {
			t.Errorf("%d bytes are counted", used)
		}
		close(release)
		for range all {
			next(t, begun)
		}
		bubbletest.Wait()
		if used := memory.OfNode(n).Usage().Bytes; used != 0 {
			t.Errorf("%d bytes are still counted", used)
		}
	})
}
