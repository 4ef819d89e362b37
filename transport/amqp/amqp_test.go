package amqp

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/transport"
)

func TestAddresses(t *testing.T) {
	for _, test := range []struct {
		form                              transport.BrokerForm
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
		s, err := bus{test.form}.site(at, transport.Config{})
		if err != nil {
			t.Errorf("%s: %v", test.address, err)
			continue
		}
		if s.HostPort != test.dial || s.Addr != test.addr || s.user != test.user || s.password != test.password || s.vhost != test.vhost {
			t.Errorf("%s is read as %+v", test.address, s)
		}
		if strings.Contains(s.Name, "secret") {
			t.Errorf("the name %s shows the password", s.Name)
		}
	}
}
