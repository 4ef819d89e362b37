package schema

import (
	"math"
	"strconv"

	"github.com/sabir-go/sabir/internal/tag"
)

// limits are the bounds of a length.
type limits struct {
	min, max *int
	not      bool // min and max are the one length that it may not have
}

// length reads a rule that limits the length of a text.
func length(r tag.Rule) (limits, bool) {
	if r.Name == "eq" || r.Name == "ne" {
		return limits{}, false
	}
	return size(r)
}

// size reads a rule that limits how many things there are.
func size(r tag.Rule) (limits, bool) {
	n, err := strconv.ParseInt(r.Param, 0, 64)
	if err != nil || n < -1<<31 || n > 1<<53 {
		return limits{}, false
	}
	at, before, after := int(n), int(n-1), int(n+1)
	switch r.Name {
	case "min", "gte":
		return limits{min: &at}, true
	case "gt":
		return limits{min: &after}, true
	case "max", "lte":
		return limits{max: &at}, true
	case "lt":
		return limits{max: &before}, true
	case "len", "eq":
		return limits{min: &at, max: &at}, true
	case "ne":
		return limits{min: &at, max: &at, not: true}, true
	}
	return limits{}, false
}

// holds reports whether a length is allowed.
func (l limits) holds(n int) bool {
	inside := (l.min == nil || n >= *l.min) && (l.max == nil || n <= *l.max)
	return inside != l.not
}

// tighten takes the narrower of the limits. One that is below 0 is one that nothing meets.
func (l limits) tighten(low, high **int) {
	if l.min != nil && *l.min > 0 && (*low == nil || **low < *l.min) {
		*low = l.min
	}
	if l.max != nil && (*high == nil || **high > *l.max) {
		*high = l.max
		if *l.max < 0 { // a schema's limits are not negative
			none, one := 0, 1
			*high, *low = &none, &one
		}
	}
}

// inBase64 turns limits of bytes into such of the characters that hold them (RFC 4648, section 4).
func (l limits) inBase64() limits {
	chars := func(n *int) *int {
		if n == nil || *n < 0 || *n > math.MaxInt32 {
			return nil
		}
		c := (*n + 2) / 3 * 4
		return &c
	}
	return limits{min: chars(l.min), max: chars(l.max)}
}
