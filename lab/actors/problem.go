package main

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
)

// problems keeps the first few of what goes wrong inside a node, and counts all.
type problems struct {
	lock  sync.Mutex
	first []string
	count int64
}

// keptProblems is the number of problems that are kept; further ones are only counted.
const keptProblems = 3

func (p *problems) add(err error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.count++; p.count <= keptProblems {
		p.first = append(p.first, err.Error())
	}
}

// all says how many there were, and the first of them in words.
func (p *problems) all() (int64, string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.count, strings.Join(p.first, "; ")
}

// faults are messages that went wrong. Lost is exact to within publishEvery-1 messages for each pair.
type faults struct{ Lost, Disorder, Wrong, Extra uint64 }

func (f faults) count() int64 { return int64(f.Lost + f.Disorder + f.Wrong + f.Extra) }

func (f faults) String() string {
	var list []string
	for _, part := range []struct {
		count uint64
		what  string
	}{{f.Lost, "lost"}, {f.Disorder, "out of order"}, {f.Wrong, "wrong"}, {f.Extra, "too many"}} {
		if part.count > 0 {
			list = append(list, fmt.Sprintf("%d %s", part.count, part.what))
		}
	}
	return cmp.Or(strings.Join(list, ", "), "none")
}

func (f faults) add(g faults) faults {
	return faults{f.Lost + g.Lost, f.Disorder + g.Disorder, f.Wrong + g.Wrong, f.Extra + g.Extra}
}

// judge is the number of faults and problems, and what they were.
func judge(found faults, inside *problems) (wrong int64, words string) {
	wrong, words = inside.all()
	if n := found.count(); n > 0 {
		wrong += n
		words = strings.TrimSuffix(found.String()+"; "+words, "; ")
	}
	return wrong, words
}
