package httpstream

import (
	"cmp"
	"time"
)

// Limits bounds what streams can hold or wait for. A zero field stands for its default.
type Limits struct {
	// Value is the most bytes of one value's JSON, in or out; 1 MiB. Chunks of downloads are not bounded by it.
	Value int
	// Open is the most streams of the server at once; 4096. Further ones are answered 429.
	Open int
	// PerConnection is the most streams of one connection at once, which only HTTP/2 has several of; 100.
	PerConnection int
	// Heartbeat is the silence after which something without a value is sent. Default: 15 seconds.
	Heartbeat time.Duration
	// Write is the time without progress after which a slow caller is cut off. Default: 10 seconds.
	Write time.Duration
	// Read bounds the time of the body of one JSON input, and of a pause in an upload. Default: 30 seconds.
	Read time.Duration
	// Head bounds the time that the head of an SSE or NDJSON answer waits for the first value or an error. Default: 1 second.
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
