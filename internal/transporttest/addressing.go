package transporttest

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/transport"
)

func addressIsFreeAgain(t *testing.T, s *streamTest) {
	l := s.listen(t)
	dialled, accepted := s.connect(t, l)
	dialled.Close()
	accepted.Close()
	l.Close()
	again, err := transport.Listen(t.Context(), l.Addr(), s.config)
	if err != nil {
		t.Fatalf("listen on %s again: %v", l.Addr(), err)
	}
	t.Cleanup(func() { again.Close() })
	dialled, accepted = s.connect(t, again)
	send(t, dialled, "x")
	expect(t, accepted, "x")
}

func listenTwice(t *testing.T, s *streamTest) {
	l := s.listen(t)
	second, err := transport.Listen(t.Context(), l.Addr(), s.config)
	if err == nil {
		second.Close()
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("listening on %s twice gave %v, want EADDRINUSE", l.Addr(), err)
	}
	dialled, accepted := s.connect(t, l) // the first is as it was
	send(t, dialled, "x")
	expect(t, accepted, "x")
}

func dialWithoutListener(t *testing.T, s *streamTest) {
	l := s.listen(t)
	l.Close()
	c, err := s.dialTo(t.Context(), l.Addr())
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("dialling nobody gave %v, want ECONNREFUSED", err)
	}
	u, _ := url.Parse(l.Addr())
	if where := u.Host + u.Path; !strings.Contains(err.Error(), where) {
		t.Errorf("the error %q does not say where: %s", err, where)
	}
}

func dialCancelled(t *testing.T, s *streamTest) {
	l := s.listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, err := s.dialTo(ctx, l.Addr())
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("dialling with a cancelled context gave %v, want context.Canceled", err)
	}
}

func addresses(t *testing.T, s *streamTest) {
	l := s.listen(t)
	u, err := schemes.Parse(l.Addr())
	if err != nil {
		t.Fatalf("the address %q: %v", l.Addr(), err)
	}
	if scheme, _, _ := strings.Cut(s.address, ":"); u.Scheme != scheme {
		t.Errorf("the address %q has another scheme than %q", l.Addr(), s.address)
	}
	if u.Port() == "0" {
		t.Errorf("the address %q does not say which port was taken", l.Addr())
	}
	dialled, accepted := s.connect(t, l)
	if got, want := dialled.RemoteAddr().String(), accepted.LocalAddr().String(); got != want {
		t.Errorf("the dialler sees %q as the other side, which sees itself as %q", got, want)
	}
	if got, want := accepted.RemoteAddr().Network(), dialled.LocalAddr().Network(); got != want {
		t.Errorf("networks %q and %q", got, want)
	}
}

func invalidAddresses(t *testing.T, s *streamTest) {
	for _, tail := range []string{"?colour=red", "#part"} {
		l, err := transport.Listen(t.Context(), s.address+tail, s.config)
		if err == nil {
			l.Close()
			t.Errorf("listening on %s%s went well: a misspelt option would be without effect", s.address, tail)
		}
		c, err := transport.Dial(t.Context(), s.address+tail, s.config)
		if err == nil {
			c.Close()
			t.Errorf("dialling %s%s went well", s.address, tail)
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dialling %s%s was tried: %v", s.address, tail, err)
		}
	}
}

// uninvited holds transports with hosts and ports to the rule that nothing listens beyond loopback unless callers must
// prove their identity.
func uninvited(t *testing.T, s *streamTest) {
	u, err := url.Parse(s.address)
	if err != nil {
		t.Fatal(err)
	}
	if u.Port() == "" {
		return // no other machine can reach it
	}
	config := s.config
	config.Keyed = false
	if config.TLS != nil {
		config.TLS = config.TLS.Clone()
		config.TLS.ClientCAs = nil
	}
	for _, host := range []string{"0.0.0.0", "[::]", "192.0.2.1"} {
		address := u.Scheme + "://" + host + ":0"
		l, err := transport.Listen(t.Context(), address, config)
		if err == nil {
			l.Close()
			t.Errorf("listening on %s without a key went well", address)
			continue
		}
		if text := err.Error(); !strings.Contains(text, "refusing") || !strings.Contains(text, "key") {
			t.Errorf("%s: the error does not say how to allow it: %v", address, err)
		}
	}
	config.Keyed = true
	l, err := transport.Listen(t.Context(), u.Scheme+"://0.0.0.0:0", config)
	if err != nil {
		t.Fatalf("listening everywhere with a key: %v", err)
	}
	defer l.Close()
	if strings.Contains(l.Addr(), "0.0.0.0") {
		t.Errorf("the address %s is not one to dial", l.Addr())
	}
}
