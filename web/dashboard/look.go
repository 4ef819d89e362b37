package dashboard

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/telemetry"
)

// look is the state of the cluster at one moment, as the page gets it. Rates are of the time since the look before, percentiles
// of the last ten looks, in microseconds.
type look struct {
	At      int64           `json:"at"` // Unix milliseconds
	Nodes   []nodeFigures   `json:"nodes"`
	Links   []link          `json:"links"`
	Actions []actionFigures `json:"actions"` // those that were called, or are offered by a node that reports them
	Total   point           `json:"total"`
	Rated   bool            `json:"rated"`          // there was a look before, so there are rates
	More    int             `json:"more,omitempty"` // actions that are left out

	Routes  []introspect.Route   `json:"routes,omitempty"`  // how calls are shared out
	LeftOut []introspect.LeftOut `json:"leftOut,omitempty"` // actions that get no calls on a node for a while
}

type nodeFigures struct {
	ID         string    `json:"id"`
	Self       bool      `json:"self,omitempty"`
	State      string    `json:"state"`
	ClientOnly bool      `json:"clientOnly,omitempty"`
	Zone       string    `json:"zone,omitempty"`
	Addr       string    `json:"addr,omitempty"`
	Host       string    `json:"host"`
	PID        int       `json:"pid"`
	Go         string    `json:"go"`
	CPUs       int       `json:"cpus"`
	Since      time.Time `json:"since"`
	Services   int       `json:"services"`
	Actions    int       `json:"actions"`
	CPU        float64   `json:"cpu"` // 0 to 1
	InFlight   int64     `json:"inFlight"`
	RTT        float64   `json:"rtt"` // microseconds; 0 where it is not known
	Rate       float64   `json:"rate"`
	Errors     float64   `json:"errors"`
	Telemetry  string    `json:"telemetry,omitempty"` // why there are no rates; "" where there are
	Silent     bool      `json:"silent,omitempty"`    // it answers nothing for the moment
	Sick       []string  `json:"sick,omitempty"`      // actions of which others send it no calls for a while: which, why, and who
	Drained    bool      `json:"drained,omitempty"`   // calls go to other nodes where there are some
	NotReady   string    `json:"notReady,omitempty"`  // why calls should rather go elsewhere
	Checks     []check   `json:"checks,omitempty"`    // of readiness
	Unmet      []unmet   `json:"unmet,omitempty"`     // what its services depend on and no node offers
}

// check is a check of readiness.
type check struct {
	Name    string  `json:"name"`
	Service string  `json:"service,omitempty"`
	Error   string  `json:"error,omitempty"`
	Took    float64 `json:"took"` // microseconds
}

// unmet is a service that no node offers, and one that depends on it.
type unmet struct {
	Service string `json:"service"`
	On      string `json:"on"`
	Problem string `json:"problem"`
}

// link is two nodes that are linked.
type link struct {
	A   string  `json:"a"`
	B   string  `json:"b"`
	RTT float64 `json:"rtt"` // microseconds
}

type actionFigures struct {
	Name   string  `json:"name"`
	Nodes  int     `json:"nodes"`
	Rate   float64 `json:"rate"`
	Errors float64 `json:"errors"`
	P50    float64 `json:"p50"`
	P95    float64 `json:"p95"`
	P99    float64 `json:"p99"`
	Active int64   `json:"active"`
	Calls  uint64  `json:"calls"`
	Failed uint64  `json:"failed"`
}

// point is a moment of the history.
type point struct {
	At     int64   `json:"at"`
	Rate   float64 `json:"rate"`
	Errors float64 `json:"errors"`
	Active int64   `json:"active"`
}

// latencies describes how long the calls of an action took.
type latencies struct {
	Action  string             `json:"action"`
	Bounds  []float64          `json:"bounds"` // seconds
	Recent  []uint64           `json:"recent"`
	All     []uint64           `json:"all"`
	PerNode map[string]float64 `json:"perNode"` // calls a second
}

// The bounds of what is looked at.
const (
	windowLooks = 10   // of percentiles
	linkLooks   = 5    // nodes are asked for their links at each fifth look
	maxNodes    = 200  // in a look
	maxActions  = 2000 // in a look
	historySize = 120  // looks
	maxSick     = 20   // actions of a node that another leaves out
	maxLeftOut  = 500  // of all
	maxChecks   = 20   // of readiness, of a node
	maxUnmet    = 20   // of a node
)

// observer looks at a cluster again and again. It is used by one goroutine at a time.
type observer struct {
	node    *sabir.Node
	looks   int
	window  []map[string]stats // the last looks, the oldest first
	links   []link
	sick    []introspect.LeftOut
	asked   map[string]introspect.Node // what each said of itself
	history []point
}

// look asks all nodes.
func (o *observer) look(ctx context.Context) (look, map[string]latencies) {
	nodes := o.node.Nodes()
	nodes = nodes[:min(len(nodes), maxNodes)]
	reported, why := askStats(ctx, o.node, nodes)
	if o.looks%linkLooks == 0 || len(o.links) == 0 {
		o.links, o.sick = askLinks(ctx, o.node, nodes)
		o.asked = askReadiness(ctx, o.node, nodes)
	}
	o.looks++
	var last, early map[string]stats
	if len(o.window) > 0 {
		last, early = o.window[len(o.window)-1], o.window[0]
	}
	l := look{At: time.Now().UnixMilli(), Nodes: []nodeFigures{}, Links: o.links, Routes: o.node.Info().Routes, LeftOut: o.sick}
	sums := make(map[string]*sum)
	for _, id := range slices.Sorted(maps.Keys(reported)) {
		before, ago := last[id], early[id]
		add(sums, reported[id], before, ago)
	}
	for _, info := range nodes {
		f := figuresOf(info, o.node.ID(), reported[info.ID], last[info.ID], why[info.ID])
		f.Sick = sickOf(o.sick, info.ID)
		if asked, ok := o.asked[info.ID]; ok {
			f.NotReady, f.Checks, f.Unmet = asked.NotReady, checksOf(asked), unmetOf(asked)
			if info.State == "running" { // as far as others know
				f.State = asked.State
			}
		}
		l.Nodes = append(l.Nodes, f)
	}
	l.Total.At = l.At
	shown := make(map[string]latencies, len(sums))
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		s := sums[name]
		if !strings.HasPrefix(name, "$") { // what the dashboard itself asks would be most of it
			l.Total.Rate += s.rate
			l.Total.Errors += s.errors
			l.Total.Active += s.active
		}
		if len(l.Actions) == maxActions {
			l.More++
			continue
		}
		l.Actions = append(l.Actions, actionFigures{Name: name, Nodes: s.nodes, Rate: s.rate, Errors: s.errors, Active: s.active, Calls: s.calls, Failed: s.failed,
			P50: telemetry.Stats{Bounds: s.bounds}.Quantile(s.buckets, 0.5) * 1e6, P95: telemetry.Stats{Bounds: s.bounds}.Quantile(s.buckets, 0.95) * 1e6, P99: telemetry.Stats{Bounds: s.bounds}.Quantile(s.buckets, 0.99) * 1e6})
		shown[name] = latencies{name, s.bounds, s.buckets, s.all, s.perNode}
	}
	o.window = append(o.window, reported)
	if len(o.window) > windowLooks {
		o.window = slices.Delete(o.window, 0, 1)
	}
	if l.Rated = last != nil; l.Rated {
		o.history = append(o.history, l.Total)
	}
	if len(o.history) > historySize {
		o.history = slices.Delete(o.history, 0, 1)
	}
	return l, shown
}

func figuresOf(info introspect.Node, self string, now, before stats, why string) nodeFigures {
	f := nodeFigures{ID: info.ID, Self: info.ID == self, State: info.State, ClientOnly: info.ClientOnly, Zone: info.Zone, Addr: info.Addr, Host: info.Host, PID: info.PID,
		Go: info.Go, CPUs: info.CPUs, Since: info.Since, Services: info.Services, Actions: info.Actions, CPU: info.Load.CPU, InFlight: int64(info.Load.InFlight),
		RTT: float64(info.RTT.Nanoseconds()) / 1e3, Telemetry: why, Silent: info.Silent, Drained: info.Drained}
	sums := make(map[string]*sum)
	add(sums, now, before, stats{})
	if now.Node != "" {
		f.InFlight = 0
	}
	for name, s := range sums {
		if !strings.HasPrefix(name, "$") {
			f.Rate += s.rate
			f.Errors += s.errors
			f.InFlight += s.active
		}
	}
	return f
}

// askReadiness asks the nodes for their checks of readiness.
func askReadiness(ctx context.Context, n *sabir.Node, nodes []introspect.Node) map[string]introspect.Node {
	asked := make(map[string]introspect.Node)
	var mu sync.Mutex
	eachNode(nodes, func(info introspect.Node) {
		if info.ClientOnly {
			return
		}
		if about, err := ask[introspect.Node](ctx, n, info.ID, "$node.info", struct{}{}); err == nil {
			mu.Lock()
			defer mu.Unlock()
			asked[info.ID] = about
		}
	})
	return asked
}

// sickOf words what a node gets no calls of.
func sickOf(all []introspect.LeftOut, node string) (list []string) {
	for _, left := range all {
		if left.Node == node {
			list = append(list, left.Action+" of "+left.By+": "+left.Reason)
		}
	}
	return list
}

func checksOf(info introspect.Node) (list []check) {
	for _, c := range info.Checks[:min(len(info.Checks), maxChecks)] {
		list = append(list, check{c.Name, c.Service, c.Error, float64(c.Took.Nanoseconds()) / 1e3})
	}
	return list
}

func unmetOf(info introspect.Node) (list []unmet) {
	for _, d := range info.Unmet[:min(len(info.Unmet), maxUnmet)] {
		list = append(list, unmet{d.Service, d.On, d.Problem})
	}
	return list
}

// askLinks asks the nodes for their links, and for the nodes that they leave out. A link that both sides report is one.
func askLinks(ctx context.Context, n *sabir.Node, nodes []introspect.Node) (list []link, sick []introspect.LeftOut) {
	type pair struct{ a, b string }
	var mu sync.Mutex
	found := make(map[pair]float64)
	note := func(id string, peers []introspect.Node) {
		mu.Lock()
		defer mu.Unlock()
		for _, p := range peers {
			if p.ID != id {
				at := pair{min(id, p.ID), max(id, p.ID)}
				found[at] = max(found[at], float64(p.RTT.Nanoseconds())/1e3)
			}
			for _, left := range p.LeftOut[:min(len(p.LeftOut), maxSick)] {
				left.Node = p.ID
				sick = append(sick, left)
			}
		}
	}
	note(n.ID(), nodes)
	eachNode(nodes, func(info introspect.Node) {
		if info.ClientOnly || info.ID == n.ID() {
			return
		}
		if peers, err := ask[[]introspect.Node](ctx, n, info.ID, "$node.nodes", struct{}{}); err == nil {
			note(info.ID, peers[:min(len(peers), maxNodes)])
		}
	})
	list = make([]link, 0, len(found))
	slices.SortFunc(sick, func(a, b introspect.LeftOut) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Action, b.Action), strings.Compare(a.By, b.By))
	})
	sick = sick[:min(len(sick), maxLeftOut)]
	for at, rtt := range found {
		list = append(list, link{at.a, at.b, rtt})
	}
	slices.SortFunc(list, func(a, b link) int { return cmp.Or(strings.Compare(a.A, b.A), strings.Compare(a.B, b.B)) })
	return list, sick
}
