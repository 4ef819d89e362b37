package amqp

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/transport"
)

func TestAnAddressIsReadWhole(t *testing.T) {
	for _, test := range []struct {
		address                                   string
		dial, addr, user, password, vhost, prefix string
	}{
		{"amqp://", "127.0.0.1:5672", "amqp://127.0.0.1:5672", "guest", "guest", "/", "sabir"},
		{"amqp://localhost/", "127.0.0.1:5672", "amqp://localhost:5672/", "guest", "guest", "/", "sabir"},
		{"amqp://ann:secret@10.0.0.7:99/shop", "10.0.0.7:99", "amqp://10.0.0.7:99/shop", "ann", "secret", "shop", "sabir"},
		{"amqp://ann@[::1]?prefix=shop.2", "[::1]:5672", "amqp://[::1]:5672", "ann", "", "/", "shop.2"},
		{"amqp://rabbit/%2fshop", "rabbit:5672", "amqp://rabbit:5672/%2fshop", "guest", "guest", "/shop", "sabir"},
		{"amqps://rabbit", "rabbit:5671", "amqps://rabbit:5671", "guest", "guest", "/", "sabir"},
	} {
		at, err := url.Parse(test.address)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Parse(at, transport.Config{})
		if err != nil {
			t.Errorf("%s: %v", test.address, err)
			continue
		}
		if a.HostPort != test.dial || a.Addr != test.addr || a.User != test.user || a.Password != test.password || a.VirtualHost != test.vhost || a.Prefix != test.prefix {
			t.Errorf("%s is read as %+v", test.address, a)
		}
		if strings.Contains(a.Name, "secret") {
			t.Errorf("the name %s shows the password", a.Name)
		}
	}
}
