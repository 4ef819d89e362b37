package validate

import (
	"errors"
	"testing"
)

// Types of which a value may contain itself, in each way that the checks follow.
type (
	ringOfPointers struct {
		Next *ringOfPointers
		Name string `validate:"max=3"`
	}
	ringOfLists struct {
		In   []ringOfLists `validate:"dive"`
		Name string        `validate:"max=3"`
	}
	ringOfMaps struct {
		In   map[string]*ringOfMaps `validate:"dive"`
		Name string                 `validate:"max=3"`
	}
	ringOfAny struct {
		In   any
		Name string `validate:"max=3"`
	}
	ringOfDives struct {
		In   any    `validate:"dive"`
		Name string `validate:"max=3"`
	}
	ringOfAnys struct {
		In   []any  `validate:"dive"`
		Name string `validate:"max=3"`
	}
	ringOfArrays struct {
		In   [1]*ringOfArrays `validate:"dive"`
		Name string           `validate:"max=3"`
	}
	ringRequired struct {
		In   any    `validate:"required"`
		Name string `validate:"max=3"`
	}
	pointersOnly *pointersOnly
	withPointers struct {
		In   pointersOnly `validate:"omitempty"`
		Name string       `validate:"max=3"`
	}
	withUntagged struct {
		In   pointersOnly
		Name string `validate:"max=3"`
	}
	withBox struct {
		In   *any   `validate:"required"`
		Name string `validate:"max=3"`
	}
)

// A value that contains itself is refused with an error, in bounded time: the library recurses without a bound, and a stack that
// overflows ends the process.
func TestAValueThatContainsItselfIsRefused(t *testing.T) {
	pointers := &ringOfPointers{Name: "long"}
	pointers.Next = pointers
	lists := &ringOfLists{Name: "long", In: make([]ringOfLists, 1)}
	lists.In[0] = *lists
	maps := &ringOfMaps{Name: "long", In: map[string]*ringOfMaps{}}
	maps.In["in"] = maps
	anything := &ringOfAny{Name: "long"}
	anything.In = anything
	dives := &ringOfDives{Name: "long"}
	dives.In = []any{dives}
	divesOfMaps := &ringOfDives{Name: "long"}
	divesOfMaps.In = map[string]any{"in": divesOfMaps}
	anys := &ringOfAnys{Name: "long"}
	anys.In = []any{anys}
	arrays := &ringOfArrays{Name: "long"}
	arrays.In[0] = arrays
	required := &ringRequired{Name: "long"}
	required.In = required
	var only pointersOnly
	only = &only
	var box any
	box = &box
	looping := &tree{Name: "abc"}
	looping.Left, looping.Right = looping, looping
	for name, value := range map[string]any{
		"a pointer": pointers, "two pointers": looping, "a list": lists, "a map": maps, "an interface": anything, "an interface with dive": dives,
		"a map in an interface with dive": divesOfMaps, "a list of interfaces": anys, "an array": arrays, "an interface that is required": required,
		"a pointer to itself": &withPointers{only, "long"}, "a pointer to itself without rules": &withUntagged{only, "long"},
		"an interface with its own address": &ringOfAny{box, "long"}, "the same with dive": &ringOfDives{box, "long"},
		"the same, required": &ringRequired{box, "long"}, "the same in a list": &ringOfAnys{[]any{box}, "long"},
		"the same behind a pointer": &withBox{&box, "long"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := New().Struct(value); !errors.Is(err, errTooDeep) {
				t.Errorf("got %v", err)
			}
		})
	}
	for name, value := range map[string]any{"a pointer to itself": only, "an interface with its own address": box} {
		if err := New().Struct(value); err != nil {
			t.Errorf("%s by itself, which has no rules: %v", name, err)
		}
	}
}
