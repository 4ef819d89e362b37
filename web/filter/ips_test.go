package filter_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/filter"
)

func TestAddressesThatAreTaken(t *testing.T) {
	for _, c := range []struct {
		allow, deny []netip.Prefix
		from        string
		want        bool
	}{
		{prefixes("192.0.2.0/24"), nil, "192.0.2.255", true},
		{prefixes("192.0.2.0/24"), nil, "192.0.3.0", false},
		{prefixes("192.0.2.0/24"), nil, "::ffff:192.0.2.7", true},
		{prefixes("::ffff:192.0.2.0/120"), nil, "192.0.2.7", true},
		{prefixes("192.0.2.9/24"), nil, "192.0.2.7", true}, // the rest of the address means nothing
		{prefixes("192.0.2.0/24"), prefixes("192.0.2.7/32"), "192.0.2.7", false},
		{prefixes("192.0.2.0/24"), prefixes("192.0.2.7/32"), "192.0.2.8", true},
		{nil, prefixes("192.0.2.0/24"), "192.0.2.7", false},
		{nil, prefixes("192.0.2.0/24"), "198.51.100.1", true},
		{nil, prefixes("192.0.2.0/24"), "", true},
		{prefixes("192.0.2.0/24"), nil, "", false},
		{prefixes("0.0.0.0/0"), nil, "255.255.255.255", true},
		{prefixes("0.0.0.0/0"), nil, "2001:db8::1", false},
		{prefixes("::/0"), nil, "192.0.2.7", false},
		{prefixes("2001:db8::/33"), nil, "2001:db8:7fff:ffff:ffff:ffff:ffff:ffff", true},
		{prefixes("2001:db8::/33"), nil, "2001:db8:8000::", false},
		{prefixes("2001:db8::/32"), nil, "2001:db8::1%eth0", true},
		{prefixes("10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/16"), nil, "10.200.0.1", true},
	} {
		x := request()
		if x.Remote = (netip.AddrPort{}); c.from != "" {
			x.Remote = netip.AddrPortFrom(netip.MustParseAddr(c.from), 1)
		}
		err := through(filter.IPs{Allow: c.allow, Deny: c.deny}.Filter(), x)
		if (err == nil) != c.want || err != nil && !errors.Is(err, sabir.NewError(sabir.CodePermissionDenied, "AddressRefused", "")) {
			t.Errorf("%v but %v, from %s: got %v", c.allow, c.deny, c.from, err)
		}
	}
}

func TestManyPrefixesMeanTheSameAsEachOfThem(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var all []netip.Prefix
		for range 1 + random.IntN(20) {
			if random.IntN(2) == 0 {
				all = append(all, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(random.IntN(4)), byte(random.IntN(256))}), 22+random.IntN(11)))
			} else {
				all = append(all, netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 1, 14: byte(random.IntN(4)), 15: byte(random.IntN(256))}), 118+random.IntN(11)))
			}
		}
		f := filter.IPs{Allow: all}.Filter()
		for range 50 {
			addr := netip.AddrFrom4([4]byte{10, 0, byte(random.IntN(4)), byte(random.IntN(256))})
			if random.IntN(2) == 0 {
				addr = netip.AddrFrom16([16]byte{0x20, 1, 14: byte(random.IntN(4)), 15: byte(random.IntN(256))})
			}
			want := false
			for _, p := range all {
				want = want || p.Contains(addr)
			}
			x := request()
			x.Remote = netip.AddrPortFrom(addr, 1)
			if got := through(f, x) == nil; got != want {
				t.Fatalf("%v in %v: %v", addr, all, got)
			}
		}
	}
}

func TestAddressesBehindAProxy(t *testing.T) {
	f := filter.IPs{Allow: prefixes("198.51.100.0/24")}.Filter()
	if err := through(f, proxied("198.51.100.7")); err != nil {
		t.Error(err)
	}
	if err := through(f, proxied("198.51.100.7, 203.0.113.1")); err == nil {
		t.Error("what the client wrote is believed")
	}
}

func TestIPsThatAreNotSound(t *testing.T) {
	misconfigured(t, filter.IPs{}.Filter(), "no addresses")
	misconfigured(t, filter.IPs{Allow: []netip.Prefix{{}}}.Filter(), "not valid")
}

func BenchmarkIPs(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var deny []netip.Prefix
			for i := range n {
				deny = append(deny, netip.PrefixFrom(netip.AddrFrom4([4]byte{11, byte(i >> 8), byte(i), 0}), 30))
			}
			bench(b, filter.IPs{Deny: deny}.Filter(), request(), nil)
		})
	}
}
