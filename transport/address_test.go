package transport_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/transport"
)

func parse(t testing.TB, address string) *url.URL {
	t.Helper()
	u, err := schemes.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestListenAddr(t *testing.T) {
	for address, want := range map[string]string{
		"tcp://:7700":                "127.0.0.1:7700",
		"tcp://:0":                   "127.0.0.1:0",
		"tcp://:7700/":               "127.0.0.1:7700",
		"tcp://localhost:7700":       "127.0.0.1:7700",
		"tcp://LocalHost:7700":       "127.0.0.1:7700",
		"tcp://127.0.0.9:7700":       "127.0.0.9:7700",
		"tcp://[::1]:7700":           "[::1]:7700",
		"tcp://[::ffff:127.0.0.1]:1": "127.0.0.1:1",
	} {
		got, err := transport.Config{}.ListenAddr(t.Context(), parse(t, address))
		if err != nil || got.String() != want {
			t.Errorf("%s means %v (%v), want %s", address, got, err, want)
		}
	}
}

func TestDialAddr(t *testing.T) {
	for address, want := range map[string]string{
		"tcp://:7700":                  "127.0.0.1:7700",
		"tcp://localhost:7700":         "127.0.0.1:7700",
		"tcp://shop.example.com:7700":  "shop.example.com:7700",
		"tcp://[2001:db8::1]:7700":     "[2001:db8::1]:7700",
		"tcp://[fe80::1%25eth0]:65535": "[fe80::1%eth0]:65535",
	} {
		if got, err := (transport.Config{}).DialAddr(parse(t, address)); err != nil || got != want {
			t.Errorf("%s means %v (%v), want %s", address, got, err, want)
		}
	}
}

func TestAResolvedAddressIsDialledInPlaceOfTheName(t *testing.T) {
	config := transport.Config{Resolved: netip.MustParseAddr("2001:db8::1")}
	if got, err := config.DialAddr(parse(t, "tcp://shop.example.com:7700")); err != nil || got != "[2001:db8::1]:7700" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestHostAndPortAddressesThatAreRefused(t *testing.T) {
	for _, test := range []struct{ address, want string }{
		{"tcp://host", "no port"},
		{"tcp://", "no port"},
		{"tcp://host:", "no port"},
		{"tcp://host:65536", "want a number"},
		{"tcp://host:1/path", "is not tcp://host:port"},
		{"tcp://host:1?nodelay=1", "is not tcp://host:port"},
		{"tcp://host:1#x", "is not tcp://host:port"},
		{"tcp://ada:secret@host:1", "is not tcp://host:port"},
		{"tcp:host:1", "is not tcp://host:port"},
		{"tcp://name.invalid:1", "cannot be resolved"},
	} {
		_, err := transport.Config{Keyed: true}.ListenAddr(t.Context(), parse(t, test.address))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error %v does not say %q", test.address, err, test.want)
		}
	}
	if _, err := (transport.Config{}).DialAddr(parse(t, "tcp://:0")); err == nil || !strings.Contains(err.Error(), "port 0") {
		t.Errorf("dialling port 0: %v", err)
	}
}

func TestOnlyProofOpensAnAddressBeyondLoopback(t *testing.T) {
	authorities := x509.NewCertPool()
	mutual := &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities}
	for _, test := range []struct {
		name    string
		config  transport.Config
		allowed bool
	}{
		{"nothing", transport.Config{}, false},
		{"a cluster key", transport.Config{Keyed: true}, true},
		{"mutual TLS", transport.Config{TLS: mutual}, true},
		{"TLS without client certificates", transport.Config{TLS: &tls.Config{}}, false},
		{"TLS without client certificates, and a cluster key", transport.Config{TLS: &tls.Config{}, Keyed: true}, true},
		{"TLS that takes certificates of any authority", transport.Config{TLS: &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert}}, false},
		{"TLS that takes unverified certificates", transport.Config{TLS: &tls.Config{ClientAuth: tls.RequireAnyClientCert, ClientCAs: authorities}}, false},
		{"TLS that takes clients without one", transport.Config{TLS: &tls.Config{ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: authorities}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, host := range []string{"0.0.0.0", "[::]", "192.0.2.1", "[2001:db8::1]", "[::ffff:192.0.2.1]"} {
				_, err := test.config.ListenAddr(t.Context(), parse(t, "tls://"+host+":7700"))
				if (err == nil) != test.allowed {
					t.Errorf("%s: %v", host, err)
				}
				if err != nil && (!strings.Contains(err.Error(), "cluster key") || !strings.Contains(err.Error(), `"tls://:7700"`)) {
					t.Errorf("the error does not say how to allow it: %v", err)
				}
			}
		})
	}
}

func TestAdvertisedAddr(t *testing.T) {
	for _, test := range []struct{ bound, advertise, want string }{
		{"127.0.0.1:7700", "", "tcp://127.0.0.1:7700"},
		{"[2001:db8::1]:7700", "", "tcp://[2001:db8::1]:7700"},
		{"0.0.0.0:7700", "shop.example.com", "tcp://shop.example.com:7700"},
		{"0.0.0.0:7700", "shop.example.com:80", "tcp://shop.example.com:80"},
		{"0.0.0.0:7700", "2001:db8::2", "tcp://[2001:db8::2]:7700"},
		{"0.0.0.0:7700", "[2001:db8::2]:80", "tcp://[2001:db8::2]:80"},
	} {
		got, err := transport.Config{Advertise: test.advertise}.AdvertisedAddr("tcp", netip.MustParseAddrPort(test.bound))
		if err != nil || got != test.want {
			t.Errorf("%s advertised as %q is %q (%v), want %q", test.bound, test.advertise, got, err, test.want)
		}
	}
	for _, wrong := range []string{":80", "host:0", "host:x", "host:1:2", "tcp://host:1", "a b", "[::1]"} {
		if got, err := (transport.Config{Advertise: wrong}).AdvertisedAddr("tcp", netip.MustParseAddrPort("0.0.0.0:1")); err == nil {
			t.Errorf("advertised as %q: %q and no error", wrong, got)
		}
	}
}

func TestAListenerOnAllAddressesAdvertisesOneToDial(t *testing.T) {
	for _, bound := range []string{"0.0.0.0:7700", "[::]:7700"} {
		got, err := transport.Config{}.AdvertisedAddr("tcp", netip.MustParseAddrPort(bound))
		if err != nil {
			t.Fatal(err)
		}
		at, err := netip.ParseAddrPort(parse(t, got).Host)
		if err != nil || at.Addr().IsUnspecified() || at.Port() != 7700 {
			t.Errorf("%s is advertised as %s", bound, got)
		}
	}
}

func TestDefaultTimes(t *testing.T) {
	for _, test := range []struct{ set, dial, idle time.Duration }{
		{0, 5 * time.Second, 15 * time.Second},
		{time.Minute, time.Minute, time.Minute},
		{-1, 0, 0},
	} {
		c := transport.Config{DialTimeout: test.set, KeepAlive: test.set}
		if c.DialLimit() != test.dial || c.KeepAliveIdle() != test.idle {
			t.Errorf("%v means %v and %v, want %v and %v", test.set, c.DialLimit(), c.KeepAliveIdle(), test.dial, test.idle)
		}
	}
}

func TestADialEndsAtItsLimitOrWithItsContext(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		began := time.Now()
		limited, cancel := transport.Config{DialTimeout: time.Minute}.WithDialLimit(t.Context())
		defer cancel()
		<-limited.Done()
		if took := time.Since(began); took != time.Minute || limited.Err() != context.DeadlineExceeded {
			t.Errorf("it ended after %v with %v", took, limited.Err())
		}
		outer, end := context.WithCancel(t.Context())
		unlimited, cancel := transport.Config{DialTimeout: -1}.WithDialLimit(outer)
		defer cancel()
		if _, bounded := unlimited.Deadline(); bounded {
			t.Error("a negative DialTimeout is a bound")
		}
		end()
		<-unlimited.Done()
	})
}

// FuzzAddress looks for addresses that break the parser, or that are dialled elsewhere than they are listened on.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"tcp://:7700", "tcp://localhost:1", "tls://[::1]:65535", "unix:///run/x", "unix:@x", "mem://a", "tcp://a:b@c:1", "tcp://[fe80::1%25e]:1", "x", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		u, err := schemes.Parse(address)
		if err != nil {
			return
		}
		if u.Scheme == "" {
			t.Errorf("%q has no scheme", address)
		}
		dial, err := transport.Config{}.DialAddr(u)
		if err != nil {
			return
		}
		if _, err := netip.ParseAddr(u.Hostname()); err != nil && u.Hostname() != "" {
			return // a name, which would be looked up
		}
		bound, err := transport.Config{Keyed: true}.ListenAddr(t.Context(), u)
		if err != nil {
			t.Fatalf("%q can be dialled and not listened on: %v", address, err)
		}
		dialled, err := netip.ParseAddrPort(dial)
		if err != nil || dialled.Port() != bound.Port() || dialled.Addr().Unmap() != bound.Addr() {
			t.Errorf("%q is listened on at %v and dialled at %v (%v)", address, bound, dial, err)
		}
	})
}
