package openapi

import (
	"strconv"
	"strings"
)

// names gives the components of one kind their names: those that they have, with what OpenAPI does not allow there replaced,
// and a number behind those that are taken.
type names map[string]bool

// take makes a name out of the first wish that is free, or of the last with a number.
func (n names) take(wishes ...string) string {
	for _, wish := range wishes {
		if name := componentName(wish); !n[name] {
			n[name] = true
			return name
		}
	}
	last := componentName(wishes[len(wishes)-1])
	for i := 2; ; i++ {
		if name := last + "_" + strconv.Itoa(i); !n[name] {
			n[name] = true
			return name
		}
	}
}

// componentName replaces what the keys of components must not have (section 4.8.7 of the specification).
func componentName(s string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, s)
	if name == "" {
		return "_"
	}
	return name
}
