package membership

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
)

// Share is a part of the calls of a name, and where it goes.
type Share struct {
	To      string  `json:"to"` // "v2": that version of the service; "node=a": the node; "track=canary": the nodes with that label
	Percent float64 `json:"percent"`
}

// MaxShares bounds the shares of one name.
const MaxShares = 16

// Version is the version that the share goes to; 0 for one that goes to nodes.
func (s Share) Version() int {
	digits, ok := strings.CutPrefix(s.To, "v")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != digits {
		return 0
	}
	return n
}

// Takes reports whether the share goes to a node.
func (s Share) Takes(c *Candidate) bool {
	key, value, ok := strings.Cut(s.To, "=")
	switch {
	case !ok:
		return false
	case key == "node":
		return c.ID == value
	}
	have, there := c.Place.Labels[key]
	return there && have == value
}

// CheckShares returns what is wrong with the shares of a name.
func CheckShares(shares []Share) error {
	if len(shares) > MaxShares {
		return fmt.Errorf("%d shares; %d is the limit", len(shares), MaxShares)
	}
	sum, versions := 0.0, 0
	for i, s := range shares {
		key, value, labelled := strings.Cut(s.To, "=")
		switch {
		case s.Version() > 0:
			versions++
		case !labelled || key == "" || value == "":
			return fmt.Errorf("%.100q is no target of a share: want a version such as v2, node=ID, or LABEL=VALUE", s.To)
		}
		if len(s.To) > maxName {
			return fmt.Errorf("the target %.40q… has %d bytes; %d is the limit", s.To, len(s.To), maxName)
		}
		if !(s.Percent > 0 && s.Percent <= 100) {
			return fmt.Errorf("%s gets %v %%: want more than 0 and at most 100", s.To, s.Percent)
		}
		for _, other := range shares[:i] {
			if other.To == s.To {
				return fmt.Errorf("%s has two shares", s.To)
			}
		}
		sum += s.Percent
	}
	if sum > 100.000001 { // of numbers such as 33.3
		return fmt.Errorf("the shares are %v %% together: 100 is the limit", sum)
	}
	if versions > 0 && versions < len(shares) {
		return fmt.Errorf("the shares are of versions and of nodes: want one of the two")
	}
	return nil
}

// Spread chooses among parts of given sizes. Without keys it chooses evenly: of any hundred choices in a row a part has about its percentage. All
// methods may be called by many goroutines at once.
type Spread struct {
	turn atomic.Uint64
	upTo []uint64 // the end of each part, of 1 << 53
}

// NewSpread makes a spread over the percentages, which are not more than 100 together. What is left of 100 is one more part.
func NewSpread(percent ...float64) *Spread {
	s := &Spread{}
	s.turn.Store(rand.Uint64()) // so that nodes that start at once do not all begin with the same part
	sum := 0.0
	for _, p := range percent {
		sum += p
		s.upTo = append(s.upTo, uint64(min(sum, 100)/100*(1<<53)))
	}
	return s
}

// Pick chooses a part by its place in the percentages; their number stands for the rest. The same key is always in the same part.
func (s *Spread) Pick(key string) int {
	var x uint64
	if key == "" {
		x = s.turn.Add(1) * 0x9e3779b97f4a7c15 // the golden ratio's multiples fill the circle evenly (Knuth, The Art of Computer Programming, 6.4)
	} else {
		x = mix(xxhash.Sum64String(key), 0)
	}
	for i, end := range s.upTo {
		if x>>11 < end {
			return i
		}
	}
	return len(s.upTo)
}
