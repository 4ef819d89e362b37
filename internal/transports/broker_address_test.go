package transports_test

import (
	"crypto/tls"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

var (
	plainBroker  = transports.BrokerForm{Port: "1883"}
	hostedBroker = transports.BrokerForm{Port: "5672", Path: "/vhost"}
	secureBroker = transports.BrokerForm{Port: "8883", Secure: true}
)

func TestABrokersAddressIsTakenApart(t *testing.T) {
	for _, test := range []struct {
		form                      transports.BrokerForm
		address                   string
		hostPort, addr, encrypted string
	}{
		{plainBroker, "mqtt://", "127.0.0.1:1883", "mqtt://127.0.0.1:1883", ""},
		{plainBroker, "mqtt://:99", "127.0.0.1:99", "mqtt://127.0.0.1:99", ""},
		{plainBroker, "mqtt://localhost/", "127.0.0.1:1883", "mqtt://localhost:1883", ""},
		{plainBroker, "mqtt://ann:secret@10.0.0.7:99", "10.0.0.7:99", "mqtt://10.0.0.7:99", ""},
		{plainBroker, "mqtt://ann@[::1]", "[::1]:1883", "mqtt://[::1]:1883", ""},
		{plainBroker, "mqtt://host:", "host:1883", "mqtt://host:1883", ""},
		{hostedBroker, "amqp://ann:secret@rabbit/shop", "rabbit:5672", "amqp://rabbit:5672/shop", ""},
		{hostedBroker, "amqp://rabbit/%2fshop", "rabbit:5672", "amqp://rabbit:5672/%2fshop", ""},
		{secureBroker, "mqtts://broker.example.com", "broker.example.com:8883", "mqtts://broker.example.com:8883", "broker.example.com"},
		{secureBroker, "mqtts://localhost", "127.0.0.1:8883", "mqtts://localhost:8883", "localhost"},
		{secureBroker, "mqtts://", "127.0.0.1:8883", "mqtts://127.0.0.1:8883", "127.0.0.1"},
	} {
		got, err := test.form.Parse(parse(t, test.address), transport.Config{})
		if err != nil {
			t.Errorf("%s: %v", test.address, err)
			continue
		}
		if got.HostPort != test.hostPort || got.Addr != test.addr || strings.Contains(got.Name, "secret") {
			t.Errorf("%s is read as %+v", test.address, got)
		}
		switch {
		case got.TLS == nil && test.encrypted != "":
			t.Errorf("%s is not encrypted", test.address)
		case got.TLS != nil && got.TLS.ServerName != test.encrypted:
			t.Errorf("%s wants a certificate of %q, want %q", test.address, got.TLS.ServerName, test.encrypted)
		}
	}
}

func TestBrokersAddressesThatAreRefused(t *testing.T) {
	for _, test := range []struct {
		form    transports.BrokerForm
		address string
		config  transport.Config
		says    string
	}{
		{plainBroker, "mqtt:broker", transport.Config{}, "is not mqtt://user:password@host:port"},
		{plainBroker, "mqtt://ann:secret@broker/topic", transport.Config{}, "is not mqtt://user:password@host:port"},
		{plainBroker, "mqtt://ann:secret@broker?heartbeat=3", transport.Config{}, "is not mqtt://"},
		{plainBroker, "mqtt://broker?", transport.Config{}, "is not mqtt://"},
		{plainBroker, "mqtt://broker#part", transport.Config{}, "is not mqtt://"},
		{plainBroker, "mqtt://ann:secret@broker:0", transport.Config{}, "port 0"},
		{plainBroker, "mqtt://broker:65536", transport.Config{}, "65536"},
		{plainBroker, "mqtt://ann:secret@broker", transport.Config{TLS: &tls.Config{}}, "use mqtts://broker"},
		{plainBroker, "mqtt://a:b:1883", transport.Config{}, "the host"},
		{hostedBroker, "amqp:rabbit", transport.Config{}, "is not amqp://user:password@host:port/vhost"},
		{secureBroker, "mqtts://ann:secret@broker", transport.Config{TLS: &tls.Config{MaxVersion: tls.VersionTLS12}}, "TLS 1.3"},
	} {
		if _, err := test.form.Parse(parse(t, test.address), test.config); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s gave %v, want an error with %q", test.address, err, test.says)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

// FuzzBrokerAddress looks for addresses that cannot be dialled, that others would read in another way, or that give the
// password in the open.
func FuzzBrokerAddress(f *testing.F) {
	for _, seed := range []string{"amqp://", "amqp://ann:secret@rabbit:1/%2fshop", "amqp://[::1]", "amqp://[fe80::1%25e]", "amqp://:5672", "amqp://host:/a/b", "amqp:x", "amqp://t@/@", "amqp:///%40"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		at, err := schemes.Parse(address)
		if err != nil {
			return
		}
		got, err := hostedBroker.Parse(at, transport.Config{})
		if err != nil {
			return
		}
		if _, _, err := net.SplitHostPort(got.HostPort); err != nil {
			t.Errorf("%q cannot be dialled: %v", address, err)
		}
		others, err := schemes.Parse(got.Addr)
		if err != nil {
			t.Fatalf("others cannot read %q, from %q: %v", got.Addr, address, err)
		}
		if others.User != nil {
			t.Errorf("others get the user of %q: %s", address, got.Addr)
		}
		if again, err := hostedBroker.Parse(others, transport.Config{}); err != nil || again.HostPort != got.HostPort || again.Addr != got.Addr {
			t.Errorf("%q is %+v, and for others %+v, %v", address, got, again, err)
		}
	})
}

func parse(t testing.TB, address string) *url.URL {
	t.Helper()
	u, err := schemes.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
