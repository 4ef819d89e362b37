package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

// traceSummary is one trace in the list.
type traceSummary struct {
	Trace  string   `json:"trace"`
	Name   string   `json:"name"`  // of its first span
	Start  int64    `json:"start"` // Unix microseconds
	Took   float64  `json:"took"`  // microseconds
	Spans  int      `json:"spans"`
	Failed int      `json:"failed"` // of them
	Error  string   `json:"error,omitempty"`
	Nodes  []string `json:"nodes"`
	Names  []string `json:"names"` // of all spans, for the filter
}

// traceList is the latest traces, and the nodes that report none.
type traceList struct {
	Traces   []traceSummary `json:"traces"`
	Answered []string       `json:"answered"` // nodes
	Mute     []string       `json:"mute"`
}

// traceSpans holds all spans of one trace, by their start, and what was logged in them.
type traceSpans struct {
	Trace string     `json:"trace"`
	Spans []spanInfo `json:"spans"`
	Lines []logLine  `json:"lines"`
}

// maxTraces bounds the list; maxFailed of them are for older ones that failed.
const (
	maxTraces = 200
	maxFailed = 50
)

// askSpans asks all nodes for spans. One that several report, because they share a ring, is taken once.
func (b *dashboard) askSpans(ctx context.Context, q spanQuery) (spans []spanInfo, reported, silent []string) {
	var mu sync.Mutex
	seen := make(map[string]bool)
	reported, silent = []string{}, []string{}
	eachNode(b.nodesNamed(""), func(n introspect.Node) {
		list, err := ask[spanList](ctx, b.node, n.ID, "$traces.recent", q)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			silent = append(silent, n.ID)
			return
		}
		reported = append(reported, n.ID)
		for _, s := range list.Spans {
			if !seen[s.ID] {
				seen[s.ID] = true
				spans = append(spans, s)
			}
		}
	})
	slices.Sort(reported)
	slices.Sort(silent)
	return spans, reported, silent
}

// traces returns the latest traces, without those of what the dashboard itself asks.
func (b *dashboard) traces(w http.ResponseWriter, r *http.Request) {
	v, err := b.answerCache.get(r.Context(), "traces", func(ctx context.Context) (any, error) {
		spans, reported, silent := b.askSpans(ctx, spanQuery{Limit: maxSpans})
		return traceList{summarize(spans), reported, silent}, nil
	})
	b.respond(w, v, err)
}

func summarize(spans []spanInfo) []traceSummary {
	byTrace := make(map[string][]spanInfo)
	for _, s := range spans {
		byTrace[s.Trace] = append(byTrace[s.Trace], s)
	}
	list := []traceSummary{}
	for id, all := range byTrace {
		slices.SortFunc(all, func(a, b spanInfo) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Took, a.Took)) })
		if strings.HasPrefix(all[0].Name, "$") {
			continue
		}
		t := traceSummary{Trace: id, Name: all[0].Name, Start: all[0].Start, Spans: len(all)}
		var end float64
		for _, s := range all {
			end = max(end, float64(s.Start-t.Start)+s.Took)
			if s.Failed {
				t.Failed++
			}
			if t.Error == "" || s.Parent == "" && s.Error != "" {
				t.Error = s.Error
			}
			if !slices.Contains(t.Nodes, s.Node) {
				t.Nodes = append(t.Nodes, s.Node)
			}
			if len(t.Names) < 20 && !slices.Contains(t.Names, s.Name) {
				t.Names = append(t.Names, s.Name)
			}
		}
		slices.Sort(t.Nodes)
		t.Took = end
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b traceSummary) int {
		return cmp.Or(cmp.Compare(b.Start, a.Start), strings.Compare(a.Trace, b.Trace))
	})
	kept := list[:0]
	for _, t := range list {
		if len(kept) < maxTraces-maxFailed || len(kept) < maxTraces && t.Failed > 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

// trace returns all spans and log lines of one trace.
func (b *dashboard) trace(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		b.fail(w, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "%.40q is no trace: its id has 32 hexadecimal digits", id))
		return
	}
	v, err := b.answerCache.get(r.Context(), "trace "+id, func(ctx context.Context) (any, error) {
		spans, _, _ := b.askSpans(ctx, spanQuery{Trace: id})
		if len(spans) == 0 {
			return nil, sabir.NewError(sabir.CodeNotFound, errNotFound.Name, "no node holds that trace any more: rings keep the latest spans only")
		}
		slices.SortFunc(spans, func(a, b spanInfo) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Took, a.Took)) })
		return traceSpans{id, spans, b.askLogs(ctx, id)}, nil
	})
	b.respond(w, v, err)
}
