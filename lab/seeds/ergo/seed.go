// Package ergo repeats Ergo's benchmarks in the lab.
package ergo

import "github.com/sabir-go/sabir/lab/bench"

// Seed has all its tables.
func Seed() bench.Seed {
	return seedOf(amounts{messages: 3_000_000, processes: 1_000_000, quickMessages: 300_000, quickProcesses: 50_000})
}

// amounts are the numbers of messages and processes in a table.
type amounts struct {
	messages, processes           int
	quickMessages, quickProcesses int // the same in quick runs
}

func (a amounts) messagesIn(e *bench.Env) int {
	if e.Quick {
		return a.quickMessages
	}
	return a.messages
}

func (a amounts) processesIn(e *bench.Env) int {
	if e.Quick {
		return a.quickProcesses
	}
	return a.processes
}

func seedOf(a amounts) bench.Seed {
	return bench.Seed{Name: "ergo", Title: "Ergo",
		About:  "Benchmarks of the Ergo framework 3 (MacBook Air M3, 2024): messages between processes, a million of them, and serialization.",
		Tables: []bench.Table{pingTable(a), shapeTable(a), workingTable(a), treeTable(a), callTable(), processTable(a), publishTable(a), encodingTable(), decodingTable()},
	}
}
