package grain

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
)

// Services makes the node offer the service $grains, whose action lists the active grains to the dashboard and the command line. Keys
// often name people, so only nodes of the cluster may call it. See [sabir.Extension].
func (e extension) Services() []sabir.Servable {
	s := sabir.NewService("$grains", sabir.Doc("tells about the grains that are active on the node it runs on"))
	sabir.Handle(s, "list", func(_ context.Context, in listQuery) (grainList, error) { return e.g.list(in), nil },
		sabir.Doc("lists active grains by kind and key"), sabir.ClusterOnly(), sabir.Idempotent())
	return []sabir.Servable{s}
}

// listQuery is the input of $grains.list.
type listQuery struct {
	Kind  string `json:"kind,omitempty"`  // of this kind only
	Match string `json:"match,omitempty"` // with this part in the key only
	Limit int    `json:"limit,omitempty"` // default and maximum: maxListed
}

// maxListed bounds the grains in an answer, so that it fits into one message however many there are.
const maxListed = 1000

// grainList is the output of $grains.list.
type grainList struct {
	Node   string      `json:"node"`
	Stats  Stats       `json:"stats"`
	Kinds  []kindCount `json:"kinds"`  // that the node serves, sorted
	Grains []active    `json:"grains"` // by kind and key
	More   int         `json:"more"`   // others that match
}

// kindCount is the active grains of a kind on a node.
type kindCount struct {
	Kind   string `json:"kind"`
	Active int    `json:"active"`
}

// active describes an active grain.
type active struct {
	Kind    string `json:"kind"`
	Key     string `json:"key"`
	PID     string `json:"pid"`
	Waiting int64  `json:"waiting"` // messages, the one being handled included
}

// list looks at all activations, one shard after the other, and keeps the first so many that match.
func (g *Grains) list(q listQuery) grainList {
	limit := q.Limit
	if limit <= 0 || limit > maxListed {
		limit = maxListed
	}
	counts, found := make(map[string]int), 0
	for kind := range g.kinds {
		counts[kind] = 0
	}
	var all, kept []*activation
	for i := range g.directory.shards {
		all = g.directory.shards[i].which(all[:0], func(a *activation) bool {
			counts[a.address.Kind]++
			return (q.Kind == "" || a.address.Kind == q.Kind) && strings.Contains(a.address.Key, q.Match)
		})
		found += len(all)
		kept = append(kept, all...)
		slices.SortFunc(kept, func(a, b *activation) int {
			return cmp.Or(strings.Compare(a.address.Kind, b.address.Kind), strings.Compare(a.address.Key, b.address.Key))
		})
		kept = kept[:min(len(kept), limit)]
	}
	l := grainList{Node: g.self, Stats: g.Stats(), Kinds: []kindCount{}, Grains: []active{}, More: found - len(kept)}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		l.Kinds = append(l.Kinds, kindCount{kind, counts[kind]})
	}
	for _, a := range kept {
		l.Grains = append(l.Grains, active{a.address.Kind, a.address.Key, a.pid.String(), a.pins.Load() &^ closing})
	}
	return l
}
