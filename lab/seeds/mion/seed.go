// Package mion repeats mion's benchmarks in the lab: HTTP servers under load, their cold starts and their idle connections.
// The servers in Go are below http/servers, those of Node in peers/http; http/README.md has what a table is too short for.
package mion

import "github.com/sabir-go/sabir/lab/bench"

// Seed has all its tables.
func Seed() bench.Seed {
	return bench.Seed{Name: "mion", Title: "mion",
		About:  "Benchmarks of mion and of other HTTP servers of Node (Node 16, macOS, 8 cores, July 2023): autocannon with 100 connections and 10 requests under way on each.",
		Tables: []bench.Table{updateUser(), hello(), coldStart(), idleConnections(), jsonTable()},
	}
}
