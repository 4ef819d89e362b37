package transport_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// deaf is a transport that returns what it was asked for.
type deaf struct{}

var errDeaf = errors.New("deaf")

func (deaf) Listen(context.Context, *url.URL, transport.Config) (transport.Listener, error) {
	return nil, errDeaf
}

func (deaf) Dial(context.Context, *url.URL, transport.Config) (net.Conn, error) { return nil, errDeaf }

func init() { transport.Register("deaf", deaf{}) }

func TestTheSchemeChoosesTheTransport(t *testing.T) {
	if _, err := transport.Listen(t.Context(), "deaf://x", transport.Config{}); err != errDeaf {
		t.Errorf("Listen gave %v", err)
	}
	if _, err := transport.Dial(t.Context(), "deaf://x", transport.Config{}); err != errDeaf {
		t.Errorf("Dial gave %v", err)
	}
	if s, ok := transports.Stream("deaf"); !ok || s != (deaf{}) {
		t.Errorf("Lookup gave %v, %v", s, ok)
	}
	if _, ok := transports.Stream("blind"); ok {
		t.Error("Lookup found what nobody registered")
	}
	if schemes := transports.Schemes(); !slices.Equal(schemes, []string{"deaf"}) {
		t.Errorf("Schemes gave %v", schemes)
	}
}

func TestAddressesThatNoTransportTakes(t *testing.T) {
	for _, test := range []struct{ address, want string }{
		{"tcp://:7700", `import _ "github.com/sabir-go/sabir/transport/tcp"`},
		{"tls://:7700", `import _ "github.com/sabir-go/sabir/transport/tcp"`},
		{"unix:///x", `import _ "github.com/sabir-go/sabir/transport/tcp"`},
		{"mem://x", `import _ "github.com/sabir-go/sabir/transport/mem"`},
		{"tpc://:7700", "links deaf"},
		{"tpc://:7700", "mem (transport/mem)"},
		{"tpc://:7700", "tcp, tls, unix (transport/tcp)"},
		{"localhost:7700", `"tcp://:7700"`},
		{":7700", `"tcp://:7700"`},
		{"7700", "no scheme"},
		{"", "no scheme"},
		{"tcp://[::1", "not a URL"},
	} {
		_, err := transport.Dial(t.Context(), test.address, transport.Config{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: the error %v does not say %s", test.address, err, test.want)
		}
	}
}

func TestErrorsDoNotShowPasswords(t *testing.T) {
	for _, address := range []string{"none://ada:secret@host:1", "none://ada:secret@host:1\x7f", "tcp://ada:secret@ho st", "//ada:secret@host",
		"none://ada:secret/x@host", "none://ada:secret?x@host:1", "none://ada:secret#@host", "none://ada:secret%zz@host", "none://ada:%secret@host"} {
		_, err := transport.Dial(t.Context(), address, transport.Config{})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestRegisterPanicsOnMistakes(t *testing.T) {
	for _, test := range []struct {
		name, scheme string
		s            transport.Stream
	}{
		{"a nil transport", "nothing", nil},
		{"no scheme", "", deaf{}},
		{"an upper case scheme", "Deaf", deaf{}},
		{"a scheme with a colon", "deaf:", deaf{}},
		{"a scheme that begins with a digit", "9p", deaf{}},
		{"a scheme that is taken", "deaf", deaf{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			transport.Register(test.scheme, test.s)
		})
	}
}
