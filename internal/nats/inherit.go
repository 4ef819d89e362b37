package nats

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/sabir-go/sabir/internal/backoff"
)

// inheritEvery is about how often a server looks whether the ports of the address have become free.
const inheritEvery = time.Second

// inherit runs a second server at the ports of the address when their server is gone. Nodes that look for the mesh by the
// address find it again, and so do servers that the one that is gone had not yet announced to each other: all of them have
// routes to that address, and go on trying.
func (e *embedded) inherit(ctx context.Context) {
	for {
		if backoff.Sleep(ctx, inheritEvery/2+rand.N(inheritEvery)) != nil {
			return
		}
		s, err := startServer(ctx, e.address, e.config, e.listen, true, nil)
		if err != nil {
			continue // a port is taken, as a rule
		}
		slog.Info("embedded NATS server: the ports of the address are taken over", "node", e.config.Name, "address", e.address.Name)
		<-ctx.Done()
		s.Shutdown()
		s.WaitForShutdown()
		return
	}
}
