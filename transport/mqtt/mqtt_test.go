package mqtt

import (
	"crypto/tls"
	"net/url"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/transport"
)

func TestAddresses(t *testing.T) {
	plain, secure := bus{port: "1883"}, bus{port: "8883", secure: true}
	for _, test := range []struct {
		bus                        bus
		address                    string
		dial, addr, user, password string
	}{
		{plain, "mqtt://", "127.0.0.1:1883", "mqtt://127.0.0.1:1883", "", ""},
		{plain, "mqtt://localhost/", "127.0.0.1:1883", "mqtt://localhost:1883", "", ""},
		{plain, "mqtt://ann:secret@10.0.0.7:99", "10.0.0.7:99", "mqtt://10.0.0.7:99", "ann", "secret"},
		{plain, "mqtt://ann@[::1]", "[::1]:1883", "mqtt://[::1]:1883", "ann", ""},
		{secure, "mqtts://broker", "broker:8883", "mqtts://broker:8883", "", ""},
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
		if s.dial != test.dial || s.addr != test.addr || s.user != test.user || s.password != test.password {
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
		{"mqtt:broker", transport.Config{}, "is not mqtt://"},
		{"mqtt://broker/topic", transport.Config{}, "is not mqtt://"},
		{"mqtt://broker?heartbeat=3", transport.Config{}, "is not mqtt://"},
		{"mqtt://broker#part", transport.Config{}, "is not mqtt://"},
		{"mqtt://broker:0", transport.Config{}, "port 0"},
		{"mqtt://ann:secret@broker", transport.Config{TLS: &tls.Config{}}, "mqtts://"},
	} {
		at, err := url.Parse(test.address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (bus{port: "1883"}).site(at, test.config); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s gave %v, want an error with %q", test.address, err, test.says)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}
