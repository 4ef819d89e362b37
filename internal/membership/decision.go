package membership

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/names"
)

// Decision is something that an operator decided for the whole cluster: that a node is drained, or how the calls of a name are shared out.
// Each node keeps all of them and has them in its catalog, so a node that starts anew gets them from the others. Of two about one thing the one
// with the higher version holds.
type Decision struct {
	Drain   string  `json:"drain,omitempty"`  // id of a node
	Route   string  `json:"route,omitempty"`  // pattern of names of actions, in place of Drain
	Shares  []Share `json:"shares,omitempty"` // of Route
	Ended   bool    `json:"ended,omitempty"`  // it does not hold any more. It is kept so that nodes which missed that do not bring it back
	Version uint64  `json:"version"`          // nanoseconds of Unix time when it was made, or more than the newest that its node knew
	By      string  `json:"by"`               // id of the node that was asked
}

// Bounds of decisions. What has ended is forgotten after keepEnded, or once MaxEnded others have ended since. A node that was cut off since before
// that one was made an end of, and comes back, brings the decision back to all: it must be ended once more.
const (
	MaxDecisions = 256 // that hold
	MaxEnded     = 256
	maxVersion   = math.MaxInt64
	keepEnded    = 24 * time.Hour
)

func (d *Decision) compare(other *Decision) int {
	if order := strings.Compare(d.Drain, other.Drain); order != 0 {
		return order
	}
	return strings.Compare(d.Route, other.Route)
}

// newer reports whether d holds rather than another one about the same.
func (d *Decision) newer(other *Decision) bool {
	return d.Version > other.Version || d.Version == other.Version && d.By > other.By
}

func (d *Decision) forgotten(now time.Time) bool {
	return d.Ended && int64(d.Version) < now.Add(-keepEnded).UnixNano()
}

// Check returns what is wrong with a decision.
func (d *Decision) Check() error {
	switch {
	case (d.Drain == "") == (d.Route == ""):
		return fmt.Errorf("a decision is about a node or about names")
	case d.Version > maxVersion:
		return fmt.Errorf("the version of a decision is %d; %d is the limit", d.Version, uint64(maxVersion))
	case d.Drain != "" && identity.BadID(d.Drain) != "":
		return fmt.Errorf("the node %.100q that is drained: its id %s", d.Drain, identity.BadID(d.Drain))
	case d.Route != "" && names.PatternFault(d.Route) != "":
		return fmt.Errorf("the pattern %.100q %s", d.Route, names.PatternFault(d.Route))
	case len(d.Route) > maxName || len(d.By) > maxName:
		return fmt.Errorf("the text %.40q… of a decision is longer than %d bytes", d.Route+d.By, maxName)
	case d.Drain != "" && d.Shares != nil, d.Route != "" && !d.Ended && len(d.Shares) == 0:
		return fmt.Errorf("the shares of the decision about %.100q do not fit", d.Drain+d.Route)
	}
	return CheckShares(d.Shares)
}

// Decisions are those that a node knows. They never change; nil is none.
type Decisions struct{ list []Decision } // sorted by what they are about

// All lists the decisions, those too that have ended. The list must not be changed.
func (d *Decisions) All() []Decision {
	if d == nil {
		return nil
	}
	return d.list
}

// Next is the version of a decision that is made now.
func (d *Decisions) Next(now time.Time) uint64 {
	next := uint64(max(1, now.UnixNano()))
	for _, one := range d.All() {
		next = max(next, min(one.Version+1, maxVersion))
	}
	return next
}

// With is the decisions after others became known, and whether that changed anything. Where there is no space for another that holds, it is left
// out; where there is none for another that has ended, the oldest of those is.
func (d *Decisions) With(now time.Time, others ...Decision) (next *Decisions, changed bool) {
	var list []Decision
	hold := 0
	for _, one := range d.All() {
		if !one.forgotten(now) {
			list = append(list, one)
			hold += holds(&one)
		}
	}
	for _, one := range others {
		at := sort.Search(len(list), func(i int) bool { return list[i].compare(&one) >= 0 }) // a search of package slices takes kilobytes of the program for each type
		known := at < len(list) && list[at].compare(&one) == 0
		if known && !one.newer(&list[at]) || !known && one.forgotten(now) {
			continue
		}
		after := hold + holds(&one)
		if known {
			after -= holds(&list[at])
		}
		if after > max(hold, MaxDecisions) {
			continue
		}
		hold = after
		if !known {
			list = append(list, one)
			copy(list[at+1:], list[at:])
		}
		list[at] = one
	}
	for ; len(list)-hold > MaxEnded; list = withoutOldestEnded(list) {
	}
	next = &Decisions{list}
	if next.same(d) {
		return d, false
	}
	return next, true
}

// holds is 1 for a decision that holds.
func holds(d *Decision) int {
	if d.Ended {
		return 0
	}
	return 1
}

// withoutOldestEnded leaves out the oldest of the decisions that have ended. All nodes choose the same one.
func withoutOldestEnded(list []Decision) []Decision {
	oldest := -1
	for i := range list {
		if list[i].Ended && (oldest < 0 || list[oldest].newer(&list[i])) {
			oldest = i
		}
	}
	return append(list[:oldest], list[oldest+1:]...)
}

func (d *Decisions) same(other *Decisions) bool {
	list := other.All()
	if len(d.list) != len(list) {
		return false
	}
	for i := range list {
		if d.list[i].compare(&list[i]) != 0 || d.list[i].Version != list[i].Version || d.list[i].By != list[i].By {
			return false
		}
	}
	return true
}

// Has reports whether a decision is among those that are known.
func (d *Decisions) Has(one Decision) bool {
	for _, other := range d.All() {
		if other.compare(&one) == 0 && other.Version == one.Version && other.By == one.By {
			return true
		}
	}
	return false
}

// Routed reports whether a decision about a pattern holds.
func (d *Decisions) Routed(pattern string) bool {
	for _, one := range d.All() {
		if one.Route == pattern && !one.Ended && one.Drain == "" {
			return true
		}
	}
	return false
}

// Drained reports whether a node is drained.
func (d *Decisions) Drained(node string) bool {
	for _, one := range d.All() {
		if one.Drain == node && !one.Ended && one.Route == "" {
			return true
		}
	}
	return false
}

// Routes lists the decisions about names that hold.
func (d *Decisions) Routes() (list []Decision) {
	for _, one := range d.All() {
		if one.Route != "" && !one.Ended {
			list = append(list, one)
		}
	}
	return list
}

// Shares is the shares of the calls of a name: those of the most specific pattern that takes it, or takes one of its other names; nil for none.
func (d *Decisions) Shares(called ...string) (shares []Share) {
	best := ""
	for _, one := range d.All() {
		if one.Route == "" || one.Ended || best != "" && !names.MoreSpecific(one.Route, best) {
			continue
		}
		if slices.ContainsFunc(called, func(name string) bool { return name != "" && names.Match(one.Route, name) }) {
			best, shares = one.Route, one.Shares
		}
	}
	return shares
}
