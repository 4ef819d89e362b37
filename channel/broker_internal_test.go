package channel

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel/engine"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

// silent is an engine whose broker does not answer.
type silent struct{ engine.Engine }

func (silent) Open(ctx context.Context, _ *url.URL, _ engine.Config) (engine.Store, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func init() { engine.Register("silent", silent{}) }

func TestNobodyWaitsLongerForABrokerThatDoesNotAnswerThanItsOwnContext(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b := newBroker()
		b.node, b.named, b.begun = sabir.NewNode(), &setting{address: "silent://broker"}, true
		first, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { _, err := b.connection(first); ended <- err }()
		bubbletest.Wait()

		asked := time.Now()
		ctx, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		if _, err := b.connection(ctx); err == nil || time.Since(asked) != time.Second {
			t.Errorf("a second one with a second to wait got %v after %v", err, time.Since(asked))
		}
		if err := b.Ready(context.Background()); err == nil {
			t.Error("the node says that it is ready while it connects")
		}
		if err := b.Stop(context.Background()); err != nil || time.Since(asked) != time.Second {
			t.Errorf("the stop ended with %v after %v", err, time.Since(asked))
		}
		cancel()
		if err := <-ended; err == nil {
			t.Error("the first one got a connection")
		}
	})
}
