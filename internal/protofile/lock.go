package protofile

import (
	"maps"
	"slices"
)

// Lock lists the numbers that fields were given, by the name of the message and the name of the field in JSON. It can be kept
// as JSON. Write reads it and adds what is new to it; nothing is ever taken out, so that no number is used
// twice. It knows nothing of types: a field that gets another one is best given another name too.
type Lock map[string]map[string]int32

// The numbers that fields may not have are those of Protocol Buffers itself (proto3, "Assigning Field Numbers").
const (
	firstOwn = 19000
	lastOwn  = 19999
)

// numbers are the numbers of a message's fields in the order of their names, and what is reserved for those that went.
func (l Lock) numbers(message string, fields []string) (given []int32, gone map[string]int32) {
	if l == nil {
		l = Lock{}
	}
	known := l[message]
	if known == nil {
		known = map[string]int32{}
		l[message] = known
	}
	next := int32(1)
	for _, n := range known {
		next = max(next, n+1)
	}
	for _, name := range fields {
		n, ok := known[name]
		if !ok {
			if next >= firstOwn && next <= lastOwn {
				next = lastOwn + 1
			}
			n = next
			known[name] = n
			next++
		}
		given = append(given, n)
	}
	gone = maps.Clone(known)
	maps.DeleteFunc(gone, func(name string, _ int32) bool { return slices.Contains(fields, name) })
	return given, gone
}
