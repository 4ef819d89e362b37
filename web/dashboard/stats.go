package dashboard

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/telemetry"
)

// What $telemetry.stats answers: all counts since the node's start.
type stats = telemetry.Stats

// What a node's figures lack.
const (
	mute   = "none"   // it does not serve telemetry.Stats
	off    = "off"    // it serves them, and counts nothing
	silent = "silent" // it does not answer
)

const (
	askLimit = time.Second // that a node may take to answer
	askWidth = 8           // nodes that are asked at once
)

// eachNode runs do for each node, a few at a time.
func eachNode(nodes []introspect.Node, do func(introspect.Node)) {
	var answerCache sync.WaitGroup
	places := make(chan struct{}, askWidth)
	for _, n := range nodes {
		places <- struct{}{}
		answerCache.Go(func() {
			defer func() { <-places }()
			do(n)
		})
	}
	answerCache.Wait()
}

// ask calls an action of one node.
func ask[Out any](ctx context.Context, n *sabir.Node, node, action string, in any) (out Out, err error) {
	text, err := askJSON(ctx, n, node, action, in)
	if err != nil {
		return out, err
	}
	err = json.Unmarshal(text, &out)
	return out, err
}

func askJSON(ctx context.Context, n *sabir.Node, node, action string, in any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	input, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	return sabir.CallJSON(ctx, n, action, input, sabir.ToNode(node))
}

// askStats asks the nodes what their actions did. For those that do not answer, it reports the reason.
func askStats(ctx context.Context, n *sabir.Node, nodes []introspect.Node) (reported map[string]stats, why map[string]string) {
	reported, why = make(map[string]stats), make(map[string]string)
	var mu sync.Mutex
	eachNode(nodes, func(info introspect.Node) {
		if info.ClientOnly {
			return
		}
		s, err := ask[stats](ctx, n, info.ID, "$telemetry.stats", struct{}{})
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			reported[info.ID] = s
			return
		}
		switch sabir.AsError(err).Code {
		case sabir.CodeNotFound, sabir.CodeUnimplemented:
			why[info.ID] = mute
		case sabir.CodeFailedPrecondition:
			why[info.ID] = off
		default:
			why[info.ID] = silent
		}
	})
	return reported, why
}

// sum adds up one action over nodes, for the time between two looks.
type sum struct {
	nodes         int
	active        int64
	calls, failed uint64  // in all
	rate, errors  float64 // a second
	bounds        []float64
	buckets       []uint64 // of recent calls
	all           []uint64 // of all calls
	perNode       map[string]float64
}

// add adds a node's present report. before is its report at the last look, for rates; early is its report some looks ago,
// for percentiles, which a single second has too few calls for. A node that was started anew counts from 0.
func add(sums map[string]*sum, now, before, early stats) {
	recent, window := now.Since(before), now.Since(early)
	seconds := now.Taken.Sub(before.Taken).Seconds()
	for i, a := range now.Actions {
		s := sums[a.Name]
		if s == nil {
			s = &sum{bounds: now.Bounds, buckets: make([]uint64, len(now.Bounds)+1), all: make([]uint64, len(now.Bounds)+1), perNode: make(map[string]float64)}
			sums[a.Name] = s
		}
		s.nodes++
		s.active += a.Active
		s.calls += a.Calls
		s.failed += a.Failed
		if before.Node != "" && seconds > 0 {
			rate := float64(recent.Actions[i].Calls) / seconds
			s.rate += rate
			s.perNode[now.Node] += rate
			s.errors += float64(recent.Actions[i].Failed) / seconds
		}
		if !slices.Equal(s.bounds, now.Bounds) {
			continue // its buckets are others: it counts in everything but percentiles
		}
		for j := range min(len(a.Buckets), len(s.buckets)) {
			s.all[j] += a.Buckets[j]
			s.buckets[j] += window.Actions[i].Buckets[j]
		}
	}
}
