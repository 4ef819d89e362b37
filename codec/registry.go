package codec

import "github.com/sabir-go/sabir/internal/registry"

var codecs = registry.New[Codec]("codec")

// Register makes c available under c.Name(). A codec's package calls it from init; a program rarely does.
//
// What [Lookup] returns is [Contained](c), so its panics come back as errors.
//
// Register panics if c is nil, if its name is not made of lower case letters, digits, '+', '-' and '.' after a first letter, or
// if that name is taken: each of these is a mistake in the program that shows at its start.
func Register(c Codec) {
	if c == nil {
		panic("codec: Register was given a nil codec")
	}
	codecs.Register(c.Name(), Contained(c))
}

// Lookup returns the codec that was registered under name, and whether there is one. It may be called from any
// goroutine. It takes a lock: look a codec up when a link or a route is set up, not for each message.
func Lookup(name string) (Codec, bool) { return codecs.Lookup(name) }

// Names returns the names of all registered codecs in alphabetical order. The slice is the caller's.
func Names() []string { return codecs.Names() }
