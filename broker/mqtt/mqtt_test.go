package mqtt

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

func TestAddresses(t *testing.T) {
	for _, test := range []struct {
		form                       transports.BrokerForm
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
		s, err := bus{test.form}.settings(at, transport.Config{})
		if err != nil {
			t.Errorf("%s: %v", test.address, err)
			continue
		}
		if s.HostPort != test.dial || s.Addr != test.addr || s.user != test.user || s.password != test.password {
			t.Errorf("%s is read as %+v", test.address, s)
		}
		if strings.Contains(s.Name, "secret") {
			t.Errorf("the name %s shows the password", s.Name)
		}
	}
}

func TestATopicIsNoPartOfAnAddress(t *testing.T) {
	for _, form := range []transports.BrokerForm{plain, secure} {
		at := &url.URL{Scheme: "mqtt", Host: "broker", Path: "/topic"}
		if _, err := (bus{form}).settings(at, transport.Config{}); err == nil || !strings.HasSuffix(err.Error(), "is not mqtt://user:password@host:port") {
			t.Errorf("%s gave %v", at, err)
		}
	}
}
