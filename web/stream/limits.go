package stream

import (
	"cmp"
	"time"
)

// Limits bounds what streams can hold or wait for. A zero field stands for its default.
type Limits struct {
	// Value is the most bytes of one value's JSON, in or out; 1 MiB. Chunks of downloads are not bounded by it.
	Value int
	// Open is the most streams of the face at once; 4096. Further ones are answered 429.
	Open int
	// PerConnection is the most streams of one connection at once, which only HTTP/2 has several of; 100.
	PerConnection int
	// Heartbeat is the silence after which something is sent that says nothing; 15 seconds.
	Heartbeat time.Duration
	// Write is how long a caller may take nothing before it is cut off; 10 seconds.
	Write time.Duration
	// Read is how long the body of one JSON input may take, and how long an upload may stand still; 30 seconds.
	Read time.Duration
	// Head is how long the head of an SSE or NDJSON answer waits for the first value or an error; 1 second.
	Head time.Duration
}

func (l Limits) filled() Limits {
	return Limits{
		Value:         cmp.Or(l.Value, 1<<20),
		Open:          cmp.Or(l.Open, 4096),
		PerConnection: cmp.Or(l.PerConnection, 100),
		Heartbeat:     cmp.Or(l.Heartbeat, 15*time.Second),
		Write:         cmp.Or(l.Write, 10*time.Second),
		Read:          cmp.Or(l.Read, 30*time.Second),
		Head:          cmp.Or(l.Head, time.Second),
	}
}
