package main

import (
	"fmt"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// What is counted between two nodes needs both: the one that sends knows when the first message went, the other when the last one
// came, by the machine's clock, which both share. The lab says words to both:
//
//   - "begin" to the receiving node, which notes what it has used so far, then to the sending node, which sends;
//   - "end" to the receiving node, which answers when all has come, then to the sending node.

// moment is an answer to a word.
type moment struct {
	At      int64         `json:"at"`      // when the first message was sent, or the last one came; nanoseconds since 1970
	CPU     time.Duration `json:"cpu"`     // at the end: used since the beginning
	Memory  float64       `json:"memory"`  // at the end: the greatest resident memory so far, bytes
	Wrong   int64         `json:"wrong"`   // at the end: what went wrong here
	Problem string        `json:"problem"` // the first of it, in words
}

// side is one of two nodes: begin does what it does at the beginning, end waits until it is done.
func side(begin func() error, end func() (finished time.Time, found faults), inside *problems) child.Job {
	var before time.Duration
	return child.Job{Answer: func(word string) (any, error) {
		switch word {
		case "begin":
			var err error
			if before, err = child.CPU(); err != nil {
				return nil, err
			}
			at := time.Now().UnixNano()
			return moment{At: at}, begin()
		case "end":
			finished, found := end()
			after, err := child.CPU()
			if err != nil {
				return nil, err
			}
			m := moment{At: finished.UnixNano(), CPU: after - before, Memory: peak()}
			m.Wrong, m.Problem = judge(found, inside)
			return m, nil
		}
		return nil, fmt.Errorf("no word is called %q", word)
	}}
}

// sends is the side that sends: it knows nothing of the end.
func sends(begin func() error, inside *problems) child.Job {
	return side(begin, func() (time.Time, faults) { return time.Now(), faults{} }, inside)
}

// receives is the other side.
func receives(end func() (time.Time, faults), inside *problems) child.Job {
	return side(func() error { return nil }, end, inside)
}
