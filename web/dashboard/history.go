package dashboard

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/sabir-go/sabir/introspect"
)

// hour is the traffic of the last hour, which the nodes remember whether somebody watches or not.
type hour struct {
	Points []point  `json:"points"` // the oldest first
	Mute   []string `json:"mute"`   // nodes that remember nothing
}

// counts adds up what a node has done until one moment, as its $telemetry.history tells it.
type counts struct {
	At     int64  `json:"at"` // Unix milliseconds
	Calls  uint64 `json:"calls"`
	Failed uint64 `json:"failed"`
	Active int64  `json:"active"`
}

// hourStep is the time between two points, in milliseconds. Those of a node fall into the step in which they were taken.
const hourStep = 10_000

// history sends the last hour of all nodes together, or of one; nothing of one that is not there.
func (b *dashboard) history(w http.ResponseWriter, r *http.Request) {
	wanted := r.URL.Query().Get("node")
	v, err := b.answerCache.get(r.Context(), "history "+wanted, func(ctx context.Context) (any, error) {
		all := hour{Points: []point{}, Mute: []string{}}
		steps := make(map[int64]point)
		var mu sync.Mutex
		eachNode(b.nodesNamed(wanted), func(n introspect.Node) {
			points, err := ask[[]counts](ctx, b.node, n.ID, "$telemetry.history", struct{}{})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				all.Mute = append(all.Mute, n.ID)
				return
			}
			addHour(steps, points)
		})
		slices.Sort(all.Mute)
		for _, p := range steps {
			all.Points = append(all.Points, p)
		}
		slices.SortFunc(all.Points, func(a, b point) int { return int(a.At - b.At) })
		return all, nil
	})
	b.respond(w, v, err)
}

// addHour adds a node's history, as rates between its points. A count that fell is that of a node that was started anew.
func addHour(steps map[int64]point, points []counts) {
	for i := 1; i < len(points); i++ {
		before, p := points[i-1], points[i]
		seconds := float64(p.At-before.At) / 1000
		if seconds <= 0 || p.Calls < before.Calls || p.Failed < before.Failed {
			continue
		}
		at := p.At / hourStep * hourStep
		sum := steps[at]
		sum.At = at
		sum.Rate += float64(p.Calls-before.Calls) / seconds
		sum.Errors += float64(p.Failed-before.Failed) / seconds
		sum.Active += p.Active
		steps[at] = sum
	}
}
