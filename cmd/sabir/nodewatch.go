package main

import (
	"fmt"
	"io"

	"github.com/sabir-go/sabir/cmd/sabir/load"
)

// nodeChange is a node that came or went while a bench measured.
type nodeChange struct {
	Seconds float64 `json:"seconds"` // since the measurement began
	Node    string  `json:"node"`
	Gone    bool    `json:"gone"` // else it came
	Left    int     `json:"left"` // nodes that are there then
}

// maxChanges bounds the changes that are kept.
const maxChanges = 100

// nodeWatch notes which nodes come and go, as the observer's links show it.
type nodeWatch struct {
	cluster *clusterClient // nil for none
	there   map[string]bool
	list    []nodeChange
}

// look notes what has changed since the last look.
func (w *nodeWatch) look(p load.Progress) {
	if w.cluster == nil {
		return
	}
	now := make(map[string]bool)
	for _, n := range w.cluster.node.Nodes() {
		if !n.ClientOnly && n.State == "running" {
			now[n.ID] = true
		}
	}
	if w.there != nil && !p.Warming {
		for id := range w.there {
			if !now[id] {
				w.note(nodeChange{p.Elapsed.Seconds(), id, true, len(now)})
			}
		}
		for id := range now {
			if !w.there[id] {
				w.note(nodeChange{p.Elapsed.Seconds(), id, false, len(now)})
			}
		}
	}
	w.there = now
}

func (w *nodeWatch) note(c nodeChange) {
	if len(w.list) < maxChanges {
		w.list = append(w.list, c)
	}
}

func writeChanges(w io.Writer, changes []nodeChange) {
	if len(changes) == 0 {
		return
	}
	fmt.Fprintln(w, "\n  nodes")
	var rows [][]string
	for _, c := range changes {
		what := "came"
		if c.Gone {
			what = "went"
		}
		rows = append(rows, []string{fmt.Sprintf("  %.1f s", c.Seconds), c.Node + " " + what, fmt.Sprintf("%d there", c.Left)})
	}
	writeRows(w, rows)
}
