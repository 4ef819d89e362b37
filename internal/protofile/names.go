package protofile

import (
	"strconv"
	"strings"
)

// names hands out names once.
type names map[string]bool

// take is the name, with a number behind it where it is taken.
func (n names) take(name string) string {
	wish := name
	for i := 2; n[name]; i++ {
		name = wish + strconv.Itoa(i)
	}
	n[name] = true
	return name
}

// takeField is take for fields, which must differ without their underscores too: their names in protobuf's JSON do.
func (n names) takeField(name string) string {
	bare := func() string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	wish := name
	for i := 2; n[bare()]; i++ {
		name = wish + strconv.Itoa(i)
	}
	n[bare()] = true
	return name
}
