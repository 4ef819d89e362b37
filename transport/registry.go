package transport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/schemes"
)

// Register makes s the transport of URLs with the scheme, without "://". A driver's package calls it from init, once for
// each scheme; a program rarely does.
//
// It panics if s is nil, if the scheme is not made of lower case letters, digits, '+', '-' and '.' after a first letter
// (RFC 3986, section 3.1), or if it is taken: each of these is a mistake in the program that shows at its start.
func Register(scheme string, s Stream) {
	if s == nil {
		panic(fmt.Sprintf("transport: Register was given nil for %q", scheme))
	}
	schemes.Transports.Register(scheme, schemes.Transport{Stream: s})
}

// RegisterBus is [Register] for the other shape of transports.
func RegisterBus(scheme string, b Bus) {
	if b == nil {
		panic(fmt.Sprintf("transport: RegisterBus was given nil for %q", scheme))
	}
	schemes.Transports.Register(scheme, schemes.Transport{Bus: b})
}

// drivers are the packages of this module and the schemes that each registers, so that an error can name the import
// that is missing. Drivers of others are found by their own documentation.
var drivers = []struct {
	name    string
	schemes []string
}{
	{"broker/amqp", []string{"amqp", "amqps"}},
	{"transport/grpc", []string{"grpc", "grpc+tls"}},
	{"transport/h2", []string{"grpc+tcp", "h2c"}},
	{"transport/http", []string{"http", "https"}},
	{"transport/kcp", []string{"kcp"}},
	{"transport/mem", []string{"mem"}},
	{"broker/mqtt", []string{"mqtt", "mqtts"}},
	{"broker/nats", []string{"nats"}},
	{"transport/quic", []string{"quic"}},
	{"broker/redis", []string{"redis", "rediss"}},
	{"transport/tcp", []string{"tcp", "tls", "unix"}},
	{"transport/utp", []string{"utp"}},
}

// missingDriver describes what to do about a scheme that nothing was registered for.
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
	if names := schemes.Transports.Names(); len(names) > 0 {
		linked = strings.Join(names, ", ")
	}
	return fmt.Errorf(`no transport is called %q: want an address such as "tcp://:7700"; the program links %s, and below github.com/sabir-go/sabir there are %s to import`,
		scheme, linked, strings.Join(known, ", "))
}
