package validate

import (
	"slices"

	"github.com/sabir-go/sabir/internal/tag"
)

// method is the library's rule that calls a method of the value by a name that only the tag knows. For its sake the linker
// keeps every exported method of every type, a sixth of a small program, so the library can be built without it.
const method = "validateFn"

// leftOut reports whether a rule of the steps is not in this program.
func leftOut(steps []tag.Step) bool {
	return !callsMethods && slices.ContainsFunc(steps, func(s tag.Step) bool {
		return leftOut(s.Keys) || slices.ContainsFunc(s.Rules, func(r tag.Rule) bool { return r.Name == method })
	})
}
