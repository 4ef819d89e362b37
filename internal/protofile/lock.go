package protofile

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/sabir-go/sabir/internal/api"
)

// Lock lists the numbers of fields, by the name of the message and the name of the field in JSON. It can be kept as JSON. Write adds what
// is new to it, and refuses a field that has another number now; nothing is ever taken out, so that no number is used twice. It knows
// nothing of types: a field that gets another one is best given another name and number too.
type Lock map[string]map[string]int32

// Check reports each field whose number is not the one that the lock has, with the tag that gives it back; nil for none.
func (l Lock) Check(a api.API) []error {
	known := Lock{}
	for message, fields := range l {
		known[message] = maps.Clone(fields)
	}
	err := Write(io.Discard, a, Options{Lock: known})
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return several.Unwrap()
	}
	if err != nil {
		return []error{err}
	}
	return nil
}

// take adds the fields of a message. It returns the numbers of those that went.
func (l Lock) take(message string, fields []string, numbers []int32) (gone map[string]int32, err error) {
	known := l[message]
	if known == nil {
		known = map[string]int32{}
		l[message] = known
	}
	owners := map[int32]string{}
	free := int32(0)
	for name, n := range known {
		owners[n] = name
		free = max(free, n)
	}
	var problems []error
	for i, name := range fields {
		was, isKnown := known[name]
		owner := owners[numbers[i]]
		switch {
		case isKnown && was != numbers[i]:
			problems = append(problems, fmt.Errorf("the field %s of %s has number %d, and had %d: give it the tag `protobuf:\"%d\"`", name, message, numbers[i], was, was))
		case !isKnown && owner != "":
			free++
			problems = append(problems, fmt.Errorf("the field %s of %s has number %d, which is that of %s: give it the tag `protobuf:\"%d\"`", name, message, numbers[i], owner, free))
		case !isKnown:
			known[name], owners[numbers[i]], free = numbers[i], name, max(free, numbers[i])
		}
	}
	gone = maps.Clone(known)
	maps.DeleteFunc(gone, func(name string, _ int32) bool { return slices.Contains(fields, name) })
	return gone, errors.Join(problems...)
}
