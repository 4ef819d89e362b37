package schema

import (
	"math/big"
	"strconv"
	"time"

	"github.com/sabir-go/sabir/internal/tag"
)

// number adds the keywords for a rule on a number. It returns false where they do not express all of the rule.
func (c *checks) number(r tag.Rule) (said bool) {
	s := c.schema
	switch r.Name {
	case "number", "numeric":
		return true
	case "port":
		return c.number(tag.Rule{Name: "min", Param: "1"}) && c.number(tag.Rule{Name: "max", Param: "65535"})
	case "isdefault":
		r.Name, r.Param = "eq", "0"
	case "oneof":
		if c.shape == float {
			return false
		}
		var list []any
		zero := false
		for _, word := range tag.Words(r.Param) {
			if n, ok := new(big.Int).SetString(word, 10); ok && n.String() == word {
				list = append(list, Number(word))
				zero = zero || n.Sign() == 0
			}
		}
		s.enum(list)
		c.refuses = c.refuses || !zero
		return true
	}
	n, ok := c.bound(r.Param)
	if !ok {
		return false
	}
	order := n.compare("0") // of the bound to zero
	holds := false
	switch r.Name {
	case "min", "gte":
		tighten(&s.Minimum, n, 1)
		holds = order <= 0
	case "max", "lte":
		tighten(&s.Maximum, n, -1)
		holds = order >= 0
	case "gt":
		tighten(&s.ExclusiveMinimum, n, 1)
		holds = order < 0
	case "lt":
		tighten(&s.ExclusiveMaximum, n, -1)
		holds = order > 0
	case "eq", "len":
		s.constant(n)
		holds = order == 0
	case "ne":
		if order == 0 {
			c.notZero = true
		} else {
			s.not(&Schema{Const: n})
			holds = true
		}
	default:
		return false
	}
	c.refuses = c.refuses || !holds
	return true
}

// bound reads the parameter of a rule as the checker does.
func (c *checks) bound(param string) (Number, bool) {
	if c.typ == durationType {
		if d, err := time.ParseDuration(param); err == nil {
			return Number(strconv.FormatInt(int64(d), 10)), true
		}
	}
	switch c.shape {
	case whole:
		n, err := strconv.ParseInt(param, 0, 64)
		return Number(strconv.FormatInt(n, 10)), err == nil
	case count:
		n, err := strconv.ParseUint(param, 0, 64)
		return Number(strconv.FormatUint(n, 10)), err == nil
	}
	f, err := strconv.ParseFloat(param, c.typ.Bits())
	if err != nil || f-f != 0 { // infinite or no number
		return "", false
	}
	return Number(strconv.FormatFloat(f, 'g', -1, c.typ.Bits())), true
}

// finish adds that a number is not zero, in the shortest way.
func (c *checks) finish() {
	s := c.schema
	if !c.notZero {
		return
	}
	c.notZero, c.refuses = false, true
	if s.Enum != nil {
		kept := s.Enum[:0]
		for _, v := range s.Enum {
			if v != any(Number("0")) {
				kept = append(kept, v)
			}
		}
		s.Enum = kept
		return
	}
	low := 0 // how the bounds relate to zero: 1 that it is below them, 0 that it is the least
	switch {
	case s.ExclusiveMinimum != nil && s.ExclusiveMinimum.compare("0") >= 0, s.Minimum != nil && s.Minimum.compare("0") > 0:
		low = 1
	case s.Minimum == nil || s.Minimum.compare("0") < 0:
		low = -1
	}
	above := s.Maximum != nil && s.Maximum.compare("0") < 0 || s.ExclusiveMaximum != nil && s.ExclusiveMaximum.compare("0") <= 0
	switch zero := Number("0"); {
	case low == 1 || above || s.Const != nil && s.Const != any(zero):
	case low == 0 && c.shape == float:
		s.Minimum, s.ExclusiveMinimum = nil, &zero
	case low == 0:
		s.Minimum = number(1)
	default:
		s.not(&Schema{Const: zero})
	}
}

// tighten takes a bound where it is tighter than the one there. The direction is 1 for a lower bound and -1 for an upper one.
func tighten(bound **Number, n Number, direction int) {
	if *bound == nil || n.compare(**bound)*direction > 0 {
		*bound = &n
	}
}

// comparePrecision is enough for all digits of 64 bits, and keeps numbers with huge exponents from taking memory.
const comparePrecision = 256

// compare is -1, 0 or 1 for less, equal and greater. What is no number counts as 0.
func (n Number) compare(other Number) int {
	return n.value().Cmp(other.value())
}

func (n Number) value() *big.Float {
	f, _, err := big.ParseFloat(string(n), 10, comparePrecision, big.ToNearestEven)
	if err != nil {
		return new(big.Float)
	}
	return f
}
