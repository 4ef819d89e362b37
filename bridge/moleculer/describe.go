package moleculer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	ownjson "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/requestid"
)

const (
	// describeQuiet is the time without news after which all nodes are taken to have said what they offer. Over TCP the first need about a second.
	describeQuiet = 1500 * time.Millisecond
	describeLook  = 50 * time.Millisecond
)

// Describe joins the project for a few seconds, as a node that offers nothing, and returns the services of its nodes as a JSON list: each once, as
// Moleculer's INFO packets have them, with name, version, fullName, actions and events, and the params of the actions as fastest-validator's
// schemas. It fails if no node answers.
func Describe(ctx context.Context, c Config) (json.RawMessage, error) {
	if c.NodeID == "" {
		c.NodeID = "sabir-" + requestid.New()[:8] // which is nobody's
	}
	b := newBridge(configOf(c))
	node := sabir.NewNode(sabir.Logger(slog.New(slog.DiscardHandler)), sabir.WithExtension(b))
	if err := node.Start(ctx); err != nil {
		return nil, err
	}
	services := b.listen(ctx)
	if err := node.Stop(ctx); err != nil {
		return nil, err
	}
	if len(services) == 0 {
		return nil, errors.New("no Moleculer node with a service answers there: is it the right broker, namespace and serializer?")
	}
	return ownjson.Codec.Append(nil, services)
}

// listen waits until no node says anything new, and returns what they said.
func (b *bridge) listen(ctx context.Context) (services []infoService) {
	ticker := time.NewTicker(describeLook)
	defer ticker.Stop()
	news, seen := time.Now(), -1
	for time.Since(news) < describeQuiet {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return services
		}
		services = b.offered()
		if len(services) != seen {
			news, seen = time.Now(), len(services)
		}
	}
	return services
}

// offered lists the services of all other nodes, each once.
func (b *bridge) offered() (services []infoService) {
	peers := b.peers.list()
	slices.SortFunc(peers, func(x, y *peer) int { return cmp.Compare(x.id, y.id) })
	b.peers.mu.Lock()
	defer b.peers.mu.Unlock()
	known := make(map[string]bool)
	for _, p := range peers {
		for _, s := range p.info.Services {
			if s.FullName, _ = s.full(); !known[s.FullName] && !strings.HasPrefix(s.FullName, "$") {
				known[s.FullName] = true
				services = append(services, s)
			}
		}
	}
	slices.SortFunc(services, func(x, y infoService) int { return cmp.Compare(x.FullName, y.FullName) })
	return services
}
