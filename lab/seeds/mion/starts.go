package mion

import (
	"slices"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/http/ask"
)

// Groups of cold starts.
const (
	twoRoutes  = "two routes"
	manyRoutes = "5000 more routes"
)

func coldStart() bench.Table {
	t := bench.Table{Name: "cold-start", Title: "Cold start",
		About: "The time from before the process is made until it has answered hello rightly for the first time: the least of three starts in " +
			"each measurement. The programs are in the file cache. Where an interpreter and packages are loaded, they are part of it.",
		Columns: []bench.Column{
			{Key: "start", Title: "to the first answer", Unit: bench.Duration, Less: true},
			{Key: "slowest", Title: "slowest of three", Unit: bench.Duration, Less: true},
		},
		Why: map[string]string{
			twoRoutes: "A node has all of Sabir in it, so its program is twice as large as that of net/http. A quarter of its start is the " +
				"initialization of packages, most of which this server does not use; the node's own start is a tenth.",
			manyRoutes: "Sabir finds out at the start what each route takes from path, query and body, which is two fifths of the time; net/http " +
				"keeps a pattern and a function.",
		}}
	for _, c := range contenders {
		if c.missing == "" && !c.codecOnly {
			t.Rows = append(t.Rows, c.coldRow(twoRoutes))
		}
	}
	for _, c := range contenders {
		if slices.Contains([]string{"Sabir", "net/http", "huma"}, c.name) {
			t.Rows = append(t.Rows, c.coldRow(manyRoutes, "5000"))
		}
	}
	return t
}

func (c contender) coldRow(group string, arguments ...string) bench.Row {
	r := c.row(group)
	r.Cold = true
	r.Needs = []*bench.Program{c.program, loader}
	r.Open = c.byLoader(ask.ColdStart, 1, arguments...)
	return r
}

// idleOnes is the number of connections that stay open: Sabir's limit without an option.
const idleOnes = 10_000

func idleConnections() bench.Table {
	t := bench.Table{Name: "idle-connections", Title: "10,000 idle connections",
		About: "The resident memory of a server that is started anew for each measurement, before and while 10,000 connections are open. Each was " +
			"answered once and then does nothing. The connections themselves are the system's, not the process's, and are not counted.",
		Columns: []bench.Column{
			{Key: "each", Title: "for each", Unit: bench.Bytes, Less: true},
			{Key: "all", Title: "with all", Unit: bench.Bytes, Less: true},
			{Key: "before", Title: "before", Unit: bench.Bytes, Less: true},
		}}
	for _, c := range contenders {
		if !slices.Contains([]string{"Sabir", "Go epoll", "Go net, goroutine per connection", "net/http", "fasthttp"}, c.name) {
			continue
		}
		r := c.row("")
		r.Cold = true
		r.Needs = []*bench.Program{c.program, loader}
		r.Open = c.byLoader(ask.IdleConnections, idleOnes)
		t.Rows = append(t.Rows, r)
	}
	return t
}
