package transport

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

var registry struct {
	sync.RWMutex
	streams map[string]Stream
	buses   map[string]Bus
}

// Register makes s the transport of URLs with the scheme, without "://". A driver's package calls it from init, once for
// each scheme; a program rarely does.
//
// It panics if s is nil, if the scheme is not made of lower case letters, digits, '+', '-' and '.' after a first letter
// (RFC 3986, section 3.1), or if it is taken: each of these is a mistake in the program that shows at its start.
func Register(scheme string, s Stream) {
	if s == nil {
		panic(fmt.Sprintf("transport: Register was given a nil transport for %q", scheme))
	}
	registry.Lock()
	defer registry.Unlock()
	checkScheme("Register", scheme)
	if registry.streams == nil {
		registry.streams = make(map[string]Stream)
	}
	registry.streams[scheme] = s
}

// RegisterBus is [Register] for the other shape of transports.
func RegisterBus(scheme string, b Bus) {
	if b == nil {
		panic(fmt.Sprintf("transport: RegisterBus was given a nil transport for %q", scheme))
	}
	registry.Lock()
	defer registry.Unlock()
	checkScheme("RegisterBus", scheme)
	if registry.buses == nil {
		registry.buses = make(map[string]Bus)
	}
	registry.buses[scheme] = b
}

// checkScheme panics where the scheme cannot be registered. It runs under the registry's lock.
func checkScheme(caller, scheme string) {
	if !validScheme(scheme) {
		panic(fmt.Sprintf("transport: %s: the scheme %q is not made of lower case letters, digits, '+', '-' and '.' after a first letter", caller, scheme))
	}
	_, stream := registry.streams[scheme]
	_, bus := registry.buses[scheme]
	if stream || bus {
		panic(fmt.Sprintf("transport: %s: a transport for %q is registered already", caller, scheme))
	}
}

// Lookup returns the transport that was registered for the scheme, and whether there is one.
func Lookup(scheme string) (Stream, bool) {
	registry.RLock()
	defer registry.RUnlock()
	s, ok := registry.streams[scheme]
	return s, ok
}

// LookupBus is [Lookup] for the other shape of transports.
func LookupBus(scheme string) (Bus, bool) {
	registry.RLock()
	defer registry.RUnlock()
	b, ok := registry.buses[scheme]
	return b, ok
}

// Schemes returns all registered schemes, of both shapes, in alphabetical order. The slice is the caller's.
func Schemes() []string {
	registry.RLock()
	defer registry.RUnlock()
	schemes := slices.AppendSeq(slices.Collect(maps.Keys(registry.streams)), maps.Keys(registry.buses))
	slices.Sort(schemes)
	return schemes
}

func validScheme(scheme string) bool {
	for i, r := range scheme {
		letter := r >= 'a' && r <= 'z'
		later := r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.'
		if !letter && (i == 0 || !later) {
			return false
		}
	}
	return scheme != ""
}

// drivers are the packages of this module and the schemes that each registers, so that an error can name the import
// that is missing. Drivers of others are found by their own documentation.
var drivers = []struct {
	name    string
	schemes []string
}{
	{"transport/amqp", []string{"amqp", "amqps"}},
	{"transport/grpc", []string{"grpc", "grpc+tls"}},
	{"transport/h2", []string{"grpc+tcp", "h2c"}},
	{"transport/http", []string{"http", "https"}},
	{"transport/kcp", []string{"kcp"}},
	{"transport/mem", []string{"mem"}},
	{"transport/mqtt", []string{"mqtt", "mqtts"}},
	{"transport/nats", []string{"nats"}},
	{"transport/quic", []string{"quic"}},
	{"transport/redis", []string{"redis", "rediss"}},
	{"transport/tcp", []string{"tcp", "tls", "unix"}},
	{"transport/utp", []string{"utp"}},
}

// missingDriver says what to do about a scheme that nothing was registered for.
func missingDriver(scheme string) error {
	for _, d := range drivers {
		if slices.Contains(d.schemes, scheme) {
			return fmt.Errorf(`the program does not link the transport of %s://: add import _ "github.com/sabir-go/sabir/%s"`, scheme, d.name)
		}
	}
	var known []string
	for _, d := range drivers {
		known = append(known, fmt.Sprintf("%s (%s)", strings.Join(d.schemes, ", "), d.name))
	}
	linked := "none"
	if schemes := Schemes(); len(schemes) > 0 {
		linked = strings.Join(schemes, ", ")
	}
	return fmt.Errorf(`no transport is called %q: want an address such as "tcp://:7700"; the program links %s, and below github.com/sabir-go/sabir there are %s to import`,
		scheme, linked, strings.Join(known, ", "))
}
