// Command codecs is Go's codecs as the lab measures them, on eight shapes: a process for each codec.
package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

func main() { child.Main(start) }

// start checks all shapes of the codec that the order's row names. What is measured the lab says in words, see measureWord.
func start(o child.Order) (child.Job, error) {
	c, err := codecOf(o.Row)
	if err != nil {
		return child.Job{}, err
	}
	if err := c.check(); err != nil {
		return child.Job{}, err
	}
	cells := map[string]*cell{}
	return child.Job{Answer: func(word string) (any, error) {
		name, d, err := measureWord(word)
		if err != nil {
			return nil, err
		}
		if cells[name.String()] == nil {
			if cells[name.String()], err = newCell(c.entries[name.shape], name.direction); err != nil {
				return nil, err
			}
		}
		return cells[name.String()].measure(d)
	}}, nil
}

// direction is one way through a codec.
type direction string

const (
	encoding direction = "encode"
	decoding direction = "decode"
)

// cellName names one measurement of a codec: a direction and a shape.
type cellName struct {
	direction direction
	shape     int // of shapes
}

func (n cellName) String() string { return fmt.Sprintf("%s %d", n.direction, n.shape) }

// measureWord reads an order: the direction, the number of the shape, and for how many nanoseconds to measure, such as
// "decode 3 50000000". It is answered by a child.Sample.
func measureWord(word string) (n cellName, d time.Duration, err error) {
	if _, err := fmt.Sscanf(word, "%s %d %d", &n.direction, &n.shape, &d); err != nil {
		return n, d, fmt.Errorf("%q: want a direction, a shape and nanoseconds: %w", word, err)
	}
	if !slices.Contains([]direction{encoding, decoding}, n.direction) || n.shape < 0 || n.shape >= len(shapes) || d <= 0 {
		return n, d, fmt.Errorf("%q: no such direction, shape or time", word)
	}
	return n, d, nil
}
