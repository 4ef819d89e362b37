package codec

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
)

var registry struct {
	sync.RWMutex
	byName map[string]Codec
}

// Register makes c available under c.Name(). A codec's package calls it from init; a program rarely does.
//
// It panics if c is nil, if its name is not made of lower case letters, digits and '-', or if that name is taken:
// each of these is a mistake in the program that shows at its start.
func Register(c Codec) {
	if c == nil {
		panic("codec: Register was given a nil codec")
	}
	name := c.Name()
	if !validName(name) {
		panic(fmt.Sprintf("codec: Register: the name %q is not made of lower case letters, digits and '-'", name))
	}
	registry.Lock()
	defer registry.Unlock()
	if _, taken := registry.byName[name]; taken {
		panic(fmt.Sprintf("codec: Register: a codec named %q is registered already", name))
	}
	if registry.byName == nil {
		registry.byName = make(map[string]Codec)
	}
	registry.byName[name] = c
}

// Lookup returns the codec that was registered under name, and whether there is one. It may be called from any
// goroutine. It takes a lock: look a codec up when a link or a route is set up, not for each message.
func Lookup(name string) (Codec, bool) {
	registry.RLock()
	defer registry.RUnlock()
	c, ok := registry.byName[name]
	return c, ok
}

// Names returns the names of all registered codecs in alphabetical order. The slice is the caller's.
func Names() []string {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Sorted(maps.Keys(registry.byName))
}

// Claimer is implemented by codecs for types that say by themselves how they are to be written, such as the generated
// messages of Protocol Buffers.
type Claimer interface {
	// Claims tells whether values of the type are always to be written by this codec.
	Claims(t reflect.Type) bool
}

// Claimed returns the name of the registered codec that claims the type; "" where none does.
func Claimed(t reflect.Type) string {
	registry.RLock()
	defer registry.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(registry.byName)) {
		if c, ok := registry.byName[name].(Claimer); ok && c.Claims(t) {
			return name
		}
	}
	return ""
}

func validName(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
			return false
		}
	}
	return name != ""
}
