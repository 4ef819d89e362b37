package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/requestid"
)

// InvalidateAcross makes one of the caches of a name on all nodes of a cluster, for invalidation: when [Cache.Invalidate]
// returns for one, all are invalidated. Each keeps its answers in its own memory. Caches in a store that nodes share need
// no such thing.
//
//	prices := &policy.Cache{}
//	prices.InvalidateAcross(shop, "prices")
//	...
//	err := prices.Invalidate(ctx, "shop.*") // here and on every other node
//
// The service carries the news: each node receives it while it serves the service, and Invalidate can reach it only then. Call
// InvalidateAcross before the service starts, and once for a cache. The name is one word or more of letters, digits, "_" and
// "-", joined by dots.
//
// A node that was lost during an invalidation is an error of Invalidate. Nodes that this one does not see at the time, because the
// network is split or they joined a moment ago, are not reached, and keep their answers until the TTL ends.
func (c *Cache) InvalidateAcross(s *sabir.Service, name string) {
	if c.cacheGroup != nil {
		c.problems = append(c.problems, fmt.Errorf("InvalidateAcross(%q): the cache is called %q already", name, c.cacheGroup.name))
		return
	}
	if err := names.CheckPattern(name); err != nil {
		c.problems = append(c.problems, fmt.Errorf("InvalidateAcross: %w", err))
		return
	}
	if strings.Contains(name, "*") {
		c.problems = append(c.problems, fmt.Errorf(`InvalidateAcross(%q): want a name without "*"`, name))
		return
	}
	t := &cacheGroup{name: name, id: requestid.New(), service: s}
	c.cacheGroup = t
	sabir.On(s, t.event(), func(ctx context.Context, news cleaned) error {
		if news.By == t.id {
			return nil
		}
		return c.invalidateHere(ctx, news.Patterns[:min(len(news.Patterns), maxPatterns)])
	}, sabir.Delivery{Group: "cache-" + t.id})
}

// cacheGroup connects a cache with those of the same name on other nodes.
type cacheGroup struct {
	name    string
	id      string // distinguishes this cache from the others
	service *sabir.Service
}

// cleaned is the event that a cache was cleaned.
type cleaned struct {
	By       string   `json:"by"`
	Patterns []string `json:"patterns"`
}

// maxPatterns bounds the patterns of one event, from any sender.
const maxPatterns = 1000

func (t *cacheGroup) event() string { return "$cache.cleaned." + t.name }

func (t *cacheGroup) broadcast(ctx context.Context, patterns []string) error {
	var errs []error
	for len(patterns) > 0 {
		n := min(len(patterns), maxPatterns)
		errs = append(errs, sabir.Broadcast(ctx, t.service, t.event(), cleaned{t.id, patterns[:n]}))
		patterns = patterns[n:]
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("not every cache %q was invalidated: %w", t.name, err)
	}
	return nil
}
