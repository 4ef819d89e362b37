package amqp

import (
	"crypto/tls"
	"net/url"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/transport"
)

func TestAddresses(t *testing.T) {
	plain, secure := bus{port: "5672"}, bus{port: "5671", secure: true}
	for _, test := range []struct {
		bus                               bus
		address                           string
		dial, addr, user, password, vhost string
	}{
		{plain, "amqp://", "127.0.0.1:5672", "amqp://127.0.0.1:5672", "guest", "guest", "/"},
		{plain, "amqp://localhost/", "127.0.0.1:5672", "amqp://localhost:5672/", "guest", "guest", "/"},
		{plain, "amqp://ann:secret@10.0.0.7:99/shop", "10.0.0.7:99", "amqp://10.0.0.7:99/shop", "ann", "secret", "shop"},
		{plain, "amqp://ann@[::1]", "[::1]:5672", "amqp://[::1]:5672", "ann", "", "/"},
		{plain, "amqp://rabbit/%2fshop", "rabbit:5672", "amqp://rabbit:5672/%2fshop", "guest", "guest", "/shop"},
		{secure, "amqps://rabbit", "rabbit:5671", "amqps://rabbit:5671", "guest", "guest", "/"},
	} {
		at, err := url.Parse(test.address)
		if err != nil {
			t.Fatal(err)
		}
		s, err := test.bus.site(at, transport.Config{})
		if err != nil {
			t.Errorf("%s: %v", test.address, err)
			continue
		}
		if s.dial != test.dial || s.addr != test.addr || s.user != test.user || s.password != test.password || s.vhost != test.vhost {
			t.Errorf("%s is read as %+v", test.address, s)
		}
		if strings.Contains(s.name, "secret") {
			t.Errorf("the name %s shows the password", s.name)
		}
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	for _, test := range []struct {
		address string
		config  transport.Config
		says    string
	}{
		{"amqp:rabbit", transport.Config{}, "is not amqp://"},
		{"amqp://rabbit?heartbeat=3", transport.Config{}, "is not amqp://"},
		{"amqp://rabbit#part", transport.Config{}, "is not amqp://"},
		{"amqp://rabbit:0", transport.Config{}, "port 0"},
		{"amqp://ann:secret@rabbit", transport.Config{TLS: &tls.Config{}}, "amqps://"},
	} {
		at, err := url.Parse(test.address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (bus{port: "5672"}).site(at, test.config); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s gave %v, want an error with %q", test.address, err, test.says)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}
