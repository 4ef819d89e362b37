package exchange_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/web/exchange"
)

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// request comes from 192.0.2.1.
func request(headers ...string) *exchange.Exchange {
	x := &exchange.Exchange{Remote: netip.MustParseAddrPort("192.0.2.1:4711")}
	for i := 0; i < len(headers); i += 2 {
		x.Header.Add(headers[i], headers[i+1])
	}
	return x
}

func clientOf(x *exchange.Exchange, p *exchange.Proxies) netip.Addr {
	x.Proxies = p
	return x.Client()
}

func TestProxiesThatAreNotSound(t *testing.T) {
	for want, p := range map[string]*exchange.Proxies{"X-Real-IP": {Header: "X-Real-IP"}, "a prefix of a proxy": {From: []netip.Prefix{{}}}} {
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to name %s", err, want)
		}
	}
}

func TestTheClientBehindProxies(t *testing.T) {
	proxies := prefixes("10.0.0.0/8", "2001:db8:ffff::/48")
	xff := exchange.Proxies{From: proxies}
	rfc := exchange.Proxies{From: proxies, Header: "forwarded"}
	for _, c := range []struct {
		what    string
		proxies exchange.Proxies
		remote  string // "" over a Unix socket
		headers []string
		want    string
	}{
		{"no proxies are named", exchange.Proxies{}, "10.0.0.1", []string{"X-Forwarded-For", "192.0.2.9"}, "10.0.0.1"},
		{"not from a proxy", xff, "192.0.2.1", []string{"X-Forwarded-For", "192.0.2.9"}, "192.0.2.1"},
		{"one proxy", xff, "10.0.0.1", []string{"X-Forwarded-For", "192.0.2.9"}, "192.0.2.9"},
		{"the proxy says nothing", xff, "10.0.0.1", nil, "10.0.0.1"},
		{"what the client wrote is not read", xff, "10.0.0.1", []string{"X-Forwarded-For", "127.0.0.1, 10.0.0.9, 192.0.2.9"}, "192.0.2.9"},
		{"two proxies", xff, "10.0.0.1", []string{"X-Forwarded-For", "1.1.1.1, 192.0.2.9, 10.0.0.2"}, "192.0.2.9"},
		{"two lines", xff, "10.0.0.1", []string{"X-Forwarded-For", "1.1.1.1", "X-Forwarded-For", "192.0.2.9,10.0.0.2"}, "192.0.2.9"},
		{"only proxies", xff, "10.0.0.1", []string{"X-Forwarded-For", "10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"IPv4 as IPv6", xff, "::ffff:10.0.0.1", []string{"X-Forwarded-For", "::ffff:192.0.2.9"}, "192.0.2.9"},
		{"with a port", xff, "10.0.0.1", []string{"X-Forwarded-For", "192.0.2.9:4711"}, "192.0.2.9"},
		{"IPv6", xff, "2001:db8:ffff::1", []string{"X-Forwarded-For", "2001:db8::9"}, "2001:db8::9"},
		{"IPv6 with a port", xff, "10.0.0.1", []string{"X-Forwarded-For", "[2001:db8::9]:80"}, "2001:db8::9"},
		{"IPv6 in brackets", xff, "10.0.0.1", []string{"X-Forwarded-For", "[2001:db8::9]"}, "2001:db8::9"},
		{"a zone is left out", xff, "10.0.0.1", []string{"X-Forwarded-For", "fe80::1%eth0"}, "fe80::1"},
		{"no address", xff, "10.0.0.1", []string{"X-Forwarded-For", "192.0.2.9, unknown"}, "10.0.0.1"},
		{"no address behind a proxy", xff, "10.0.0.1", []string{"X-Forwarded-For", "unknown, 10.0.0.2"}, "10.0.0.2"},
		{"an empty item", xff, "10.0.0.1", []string{"X-Forwarded-For", "192.0.2.9,"}, "10.0.0.1"},
		{"a Unix socket", xff, "", []string{"X-Forwarded-For", "192.0.2.9"}, "192.0.2.9"},
		{"a Unix socket without proxies", exchange.Proxies{}, "", []string{"X-Forwarded-For", "192.0.2.9"}, "invalid IP"},
		{"the other header", xff, "10.0.0.1", []string{"Forwarded", "for=192.0.2.9"}, "10.0.0.1"},

		{"Forwarded", rfc, "10.0.0.1", []string{"Forwarded", "for=192.0.2.9"}, "192.0.2.9"},
		{"Forwarded, the other header", rfc, "10.0.0.1", []string{"X-Forwarded-For", "192.0.2.9"}, "10.0.0.1"},
		{"Forwarded with more", rfc, "10.0.0.1", []string{"Forwarded", `proto=http;host="a,b;c";For="192.0.2.9:80";by=10.0.0.1`}, "192.0.2.9"},
		{"Forwarded, IPv6", rfc, "10.0.0.1", []string{"Forwarded", `for="[2001:db8::9]:4711"`}, "2001:db8::9"},
		{"Forwarded, two proxies", rfc, "10.0.0.1", []string{"Forwarded", `for=1.1.1.1, for=192.0.2.9;proto=https, for=10.0.0.2`}, "192.0.2.9"},
		{"Forwarded, hidden", rfc, "10.0.0.1", []string{"Forwarded", `for=_hidden, for=10.0.0.2`}, "10.0.0.2"},
		{"Forwarded without for", rfc, "10.0.0.1", []string{"Forwarded", `for=192.0.2.9, by=10.0.0.2`}, "10.0.0.1"},
		{"Forwarded, for twice", rfc, "10.0.0.1", []string{"Forwarded", `for=192.0.2.9;for=192.0.2.8`}, "10.0.0.1"},
		{"Forwarded, an open quote", rfc, "10.0.0.1", []string{"Forwarded", `for="192.0.2.9`}, "10.0.0.1"},
		{"Forwarded, a quote that swallows the proxy's word", rfc, "10.0.0.1", []string{"Forwarded", `for=1.1.1.1;host="x, for=192.0.2.9`}, "10.0.0.1"},
		{"Forwarded, an escape", rfc, "10.0.0.1", []string{"Forwarded", `for="192.0.2.\9"`}, "10.0.0.1"},
		{"Forwarded, something behind the quote", rfc, "10.0.0.1", []string{"Forwarded", `for="192.0.2.9"x`}, "10.0.0.1"},
		{"Forwarded, empty", rfc, "10.0.0.1", []string{"Forwarded", ""}, "10.0.0.1"},
	} {
		x := request(c.headers...)
		if x.Remote = (netip.AddrPort{}); c.remote != "" {
			x.Remote = netip.AddrPortFrom(netip.MustParseAddr(c.remote), 1)
		}
		if got := clientOf(x, &c.proxies).String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, got, c.want)
		}
	}
}

func TestALongListIsReadFromItsEnd(t *testing.T) {
	x := request("X-Forwarded-For", "192.0.2.9"+strings.Repeat(", 10.0.0.2", 1000))
	if got := clientOf(x, &exchange.Proxies{From: prefixes("192.0.2.1/32", "10.0.0.0/8")}).String(); got != "10.0.0.2" {
		t.Errorf("got %s", got)
	}
}

// FuzzForwarded has anything in the header: the client is never one that only an untrusted part of it names.
func FuzzForwarded(f *testing.F) {
	for _, seed := range []string{`for=192.0.2.9;by="x"`, `for="[::1]:80", for=1.1.1.1`, `,,`, `"`, `for="\"`, "1.2.3.4, 10.0.0.1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		for _, name := range []string{"Forwarded", "X-Forwarded-For"} {
			p := exchange.Proxies{From: prefixes("192.0.2.1/32"), Header: name}
			// The proxy's own entry is a line of its own, so nothing in the client's can change how it is read.
			word := "203.0.113.7"
			if name == "Forwarded" {
				word = "for=203.0.113.7"
			}
			if got := clientOf(request(name, header, name, word), &p); got != netip.MustParseAddr("203.0.113.7") {
				t.Fatalf("%q: got %v", header, got)
			}
			if got := clientOf(request(name, header), &p); !got.IsValid() {
				t.Fatalf("%q: no client", header)
			}
		}
	})
}

func BenchmarkClientBehindAProxy(b *testing.B) {
	x := request("X-Forwarded-For", "198.51.100.7")
	p := exchange.Proxies{From: prefixes("192.0.2.0/24")}
	b.ReportAllocs()
	for b.Loop() {
		clientOf(x, &p)
	}
}
