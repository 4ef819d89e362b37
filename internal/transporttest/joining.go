package transporttest

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// at is the broker's address with a change.
func (s *busTest) at(t *testing.T, change func(*url.URL)) string {
	t.Helper()
	at, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	change(at)
	return at.String()
}

func connectWithoutBroker(t *testing.T, s *busTest) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	l.Close()
	_, err = Connect(t, s.at(t, func(at *url.URL) { at.Host = free }), s.config, transport.BusEvents{})
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("connecting where nobody listens gave %v, want ECONNREFUSED", err)
	}
	if !strings.Contains(err.Error(), free) {
		t.Errorf("the error %q does not say where: %s", err, free)
	}
	s.hidesSecret(t, "the error", err.Error())
}

func connectCancelled(t *testing.T, s *busTest) {
	at, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	driver, _ := transports.Bus(at.Scheme)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	broker, err := driver.Connect(ctx, at, s.config, transport.BusEvents{})
	if err == nil {
		broker.Close()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("connecting with a cancelled context gave %v, want context.Canceled", err)
	}
}

// quickly is the time that a busy machine may take for an operation without waiting. It is less than the 5 seconds of the
// default DialTimeout.
const quickly = 4 * time.Second

func connectSilent(t *testing.T, s *busTest) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nothing accepts, the system connects all the same
	address := s.at(t, func(at *url.URL) { at.Host = l.Addr().String() })
	config := s.config
	config.DialTimeout = 100 * time.Millisecond
	quick(t, "connecting with a DialTimeout of 100ms", quickly, func() {
		_, err = Connect(t, address, config, transport.BusEvents{})
	})
	if err == nil {
		t.Fatal("connecting to one that says nothing went well")
	}
	s.hidesSecret(t, "the error", err.Error())

	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	driver, _ := transports.Bus(at.Scheme)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	quick(t, "connecting with a context of 100ms", quickly, func() {
		broker, err := driver.Connect(ctx, at, s.config, transport.BusEvents{})
		if err == nil {
			broker.Close()
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v, want context.DeadlineExceeded", err)
		}
	})
}

func wrongPassword(t *testing.T, s *busTest) {
	wrong := "wrong-" + s.secret()
	address := s.at(t, func(at *url.URL) { at.User = url.UserPassword(at.User.Username(), wrong) })
	config := s.config
	config.DialTimeout = waitLimit // RabbitMQ takes more than three seconds to refuse, so that guessing takes long
	_, err := Connect(t, address, config, transport.BusEvents{})
	if err == nil {
		t.Fatal("a wrong password was good enough")
	}
	at, _ := url.Parse(address)
	if !strings.Contains(err.Error(), at.Host) {
		t.Errorf("the error %q does not say where: %s", err, at.Host)
	}
	if strings.Contains(err.Error(), "EOF") || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error does not say what is wrong: %v", err)
	}
	s.hidesSecret(t, "the error", err.Error())
}

func strangeBrokers(t *testing.T, s *busTest) {
	for _, tail := range []string{"?colour=red", "#part"} {
		if _, err := Connect(t, s.URL()+tail, s.config, transport.BusEvents{}); err == nil {
			t.Errorf("connecting to …%s went well: a misspelt option would be without effect", tail)
		} else {
			s.hidesSecret(t, "the error", err.Error())
		}
	}
}

func brokerAddress(t *testing.T, s *busTest) {
	m := s.connect(t)
	s.hidesSecret(t, "Addr", m.Addr())
	addr, err := schemes.Parse(m.Addr())
	if err != nil {
		t.Fatal(err)
	}
	at, _ := url.Parse(s.URL())
	if addr.Scheme != at.Scheme || addr.Host != at.Host {
		t.Errorf("Addr is %s for a broker at %s", m.Addr(), at.Redacted())
	}
	addr.User = at.User
	if _, err := Connect(t, addr.String(), s.config, transport.BusEvents{}); err != nil {
		t.Errorf("others cannot connect to %s: %v", m.Addr(), err)
	}
}

func brokerElsewhere(t *testing.T, s *busTest) {
	config := s.config
	config.Keyed = false
	if config.TLS != nil {
		config.TLS = config.TLS.Clone()
		config.TLS.Certificates, config.TLS.GetClientCertificate = nil, nil
	}
	for _, host := range []string{"192.0.2.1", "[2001:db8::1]"} { // for documentation: nothing listens there
		address := s.at(t, func(at *url.URL) { at.Host = host + ":" + at.Port() })
		_, err := Connect(t, address, config, transport.BusEvents{})
		if err == nil {
			t.Errorf("connecting to %s without a key went well", host)
			continue
		}
		if text := err.Error(); !strings.Contains(text, "refusing") || !strings.Contains(text, "key") {
			t.Errorf("%s: the error does not say how to allow it: %v", host, err)
		}
		s.hidesSecret(t, "the error", err.Error())
	}
}
