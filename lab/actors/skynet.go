package main

import (
	"fmt"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// branching is the number of processes that each one starts which is no leaf.
const branching = 10

// branch is a part of a tree of processes: that with the leaves from number first on.
type branch struct{ first, leaves int }

// gathering is the state of a process at the root of a branch. It starts those below it, adds up the numbers that they tell it, tells the sum
// to the one that started it, and ends. A leaf tells its number.
type gathering struct {
	branch
	waiting int
	sum     uint64
	done    func(sum uint64) // of the first process of the tree only
	fail    func(error)
}

func (g *gathering) leaf() bool { return g.leaves == 1 }

// below is the state of a process that this one starts.
func (g *gathering) below(i int) gathering {
	leaves := g.leaves / branching
	return gathering{branch: branch{g.first + i*leaves, leaves}, waiting: branching, fail: g.fail}
}

// take adds what a process below has told, and reports whether it was the last.
func (g *gathering) take(m Message) bool {
	if m != messageAt(m.Sequence) {
		g.fail(fmt.Errorf("a sum of %+v", m))
	}
	g.sum += m.Sequence
	g.waiting--
	return g.waiting == 0
}

// total returns the message for the process above: the sum, or the number of a leaf.
func (g *gathering) total() Message {
	if g.leaf() {
		return messageAt(uint64(g.first))
	}
	return messageAt(g.sum)
}

// treeOf returns the numbers of leaves and of all processes of the largest whole tree with at most so many leaves.
func treeOf(most int) (leaves, processes int) {
	leaves, processes = 1, 1
	for leaves*branching <= most {
		leaves *= branching
		processes += leaves
	}
	return leaves, processes
}

// skynetHere starts a tree of processes for each measurement, until the first one knows the sum of all leaves.
func skynetHere(n node, o child.Order, inside *problems) child.Job {
	leaves, processes := treeOf(o.Size)
	want := uint64(leaves) * uint64(leaves-1) / 2
	return child.Job{Measure: func(time.Duration) (child.Sample, error) {
		known, sum := newTally(1), uint64(0)
		first := gathering{branch: branch{0, leaves}, waiting: branching, fail: inside.add, done: func(s uint64) { sum = s; known.add() }}
		return counted(int64(processes), inside, func() error { return n.skynet(first) }, func() (time.Time, faults) {
			if !settle(known.done, processorUsed) {
				return time.Now(), faults{Lost: 1}
			}
			if sum != want {
				inside.add(fmt.Errorf("the sum is %d, want %d", sum, want))
			}
			return known.finished, faults{}
		})
	}}
}

// processorUsed is the progress of a tree: as long as its processes do something, the sum may still come.
func processorUsed() uint64 {
	used, err := child.CPU()
	if err != nil {
		return 0
	}
	return uint64(used / (100 * time.Millisecond))
}
