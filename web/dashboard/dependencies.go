package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
)

// dependencyMap shows which services call which, and hear which events, as the latest spans have it.
type dependencyMap struct {
	From     int64    `json:"from"` // Unix microseconds: the start of the oldest span
	Until    int64    `json:"until"`
	Services []string `json:"services"`
	Edges    []edge   `json:"edges"`
	Answered []string `json:"answered"` // nodes
	Mute     []string `json:"mute"`
}

// edge is the traffic from one service to another. From is "" for callers outside, whose calls no span of a service surrounds.
type edge struct {
	From   string   `json:"from"`
	To     string   `json:"to"`
	Events bool     `json:"events,omitempty"` // they are events, not calls
	Count  int      `json:"count"`
	Failed int      `json:"failed"`
	Took   float64  `json:"took"`  // microseconds, on average
	Names  []string `json:"names"` // of actions or events
}

// The bounds of the map.
const (
	maxEdges     = 300
	maxEdgeNames = 12
)

// dependencies sends the map.
func (b *dashboard) dependencies(w http.ResponseWriter, r *http.Request) {
	v, err := b.answerCache.get(r.Context(), "dependencies", func(ctx context.Context) (any, error) {
		spans, reported, silent := b.askSpans(ctx, spanQuery{Limit: maxSpans})
		m := mapOf(spans)
		m.Answered, m.Mute = reported, silent
		return m, nil
	})
	b.respond(w, v, err)
}

// mapOf adds up the spans of services by the services that their nearest ancestors belong to.
func mapOf(spans []spanInfo) dependencyMap {
	m := dependencyMap{Services: []string{}, Edges: []edge{}}
	byID := make(map[string]*spanInfo, len(spans))
	for i := range spans {
		byID[spans[i].ID] = &spans[i]
	}
	type ends struct {
		from, to string
		events   bool
	}
	found := make(map[ends]*edge)
	for i := range spans {
		s := &spans[i]
		if !runs(s) || isOwn(s.Service) || strings.HasPrefix(s.Service, "$") {
			continue
		}
		from, known := callerOf(s, byID)
		if !known {
			continue
		}
		at := ends{from, s.Service, s.Kind == "consumer"}
		e := found[at]
		if e == nil {
			e = &edge{From: at.from, To: at.to, Events: at.events}
			found[at] = e
		}
		e.Count++
		e.Took += s.Took
		if s.Failed {
			e.Failed++
		}
		if name := strings.TrimPrefix(s.Name, "handle "); len(e.Names) < maxEdgeNames && !slices.Contains(e.Names, name) {
			e.Names = append(e.Names, name)
		}
		if m.From == 0 || s.Start < m.From {
			m.From = s.Start
		}
		m.Until = max(m.Until, s.Start)
	}
	for _, e := range found {
		e.Took /= float64(e.Count)
		slices.Sort(e.Names)
		m.Edges = append(m.Edges, *e)
	}
	slices.SortFunc(m.Edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.From, b.From), strings.Compare(a.To, b.To), strings.Compare(a.Names[0], b.Names[0]))
	})
	m.Edges = m.Edges[:min(len(m.Edges), maxEdges)]
	for _, e := range m.Edges {
		for _, name := range []string{e.From, e.To} {
			if name != "" && !slices.Contains(m.Services, name) {
				m.Services = append(m.Services, name)
			}
		}
	}
	slices.Sort(m.Services)
	return m
}

// runs reports whether a span is the work of a service, rather than its caller's wait for it.
func runs(s *spanInfo) bool { return s.Service != "" && (s.Kind == "server" || s.Kind == "consumer") }

// callerOf is the service that a span works for: "" for the outside. It is not known where the span above is held no more.
func callerOf(s *spanInfo, byID map[string]*spanInfo) (service string, known bool) {
	for range 8 {
		if s.Parent == "" {
			return "", true
		}
		above := byID[s.Parent]
		if above == nil {
			return "", false
		}
		if runs(above) {
			return above.Service, true
		}
		s = above
	}
	return "", false
}
