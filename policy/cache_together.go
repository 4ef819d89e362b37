package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sabir-go/sabir"
)

// CleanTogether makes one of the caches of a name on all nodes of a cluster, as far as cleaning goes: when [Cache.Clean]
// has cleaned one, it has cleaned all. Each keeps its answers in its own memory. Caches in a store that nodes share need
// no such thing.
//
//	prices := policy.NewCache()
//	prices.CleanTogether(shop, "prices")
//	...
//	err := prices.Clean(ctx, "shop.*") // here and on every other node
//
// The service carries the news: each node hears it while it serves the service, and Clean can tell it only then. Call
// CleanTogether before the service starts, and once for a cache. The name is one word or more of letters, digits, "_" and
// "-", joined by dots.
//
// A node that was lost while it was told is an error of Clean. Nodes that this one does not see at the time, because the
// network is split or they joined a moment ago, are not told, and keep their answers for as long as the TTL says.
func (c *Cache) CleanTogether(s *sabir.Service, name string) {
	if c.together != nil {
		c.problems = append(c.problems, fmt.Errorf("CleanTogether(%q): the cache is called %q already", name, c.together.name))
		return
	}
	if err := sabir.CheckPattern(name); err != nil {
		c.problems = append(c.problems, fmt.Errorf("CleanTogether: %w", err))
		return
	}
	if strings.Contains(name, "*") {
		c.problems = append(c.problems, fmt.Errorf(`CleanTogether(%q): want a name without "*"`, name))
		return
	}
	t := &together{name: name, id: sabir.NewRequestID(), service: s}
	c.together = t
	sabir.On(s, t.event(), func(ctx context.Context, news cleaned) error {
		if news.By == t.id {
			return nil
		}
		return c.cleanHere(ctx, news.Patterns[:min(len(news.Patterns), maxTold)])
	}, sabir.InGroup("cache-"+t.id))
}

// together is what a cache shares with those of its name.
type together struct {
	name    string
	id      string // tells this cache from the others
	service *sabir.Service
}

// cleaned is the news that a cache was cleaned.
type cleaned struct {
	By       string   `json:"by"`
	Patterns []string `json:"patterns"`
}

// maxTold bounds the patterns of one event, whoever sends it.
const maxTold = 1000

func (t *together) event() string { return "$cache.cleaned." + t.name }

func (t *together) tell(ctx context.Context, patterns []string) error {
	var errs []error
	for len(patterns) > 0 {
		n := min(len(patterns), maxTold)
		errs = append(errs, sabir.Broadcast(ctx, t.service, t.event(), cleaned{t.id, patterns[:n]}))
		patterns = patterns[n:]
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("not every cache %q was told of the cleaning: %w", t.name, err)
	}
	return nil
}
