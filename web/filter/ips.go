package filter

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/sabir-go/sabir/web/exchange"
)

type addresses struct {
	allow, deny ranges
	all         bool // nothing is allowed in particular
}

// IPs takes calls from the addresses in Allow, or from all if that is empty, except those in Deny; others get
// AddressRefused. A connection without an address, over a Unix socket, passes where Allow is empty. IPv4 addresses in IPv6 form
// count as IPv4. Behind a proxy, TrustProxies of web.Config has to name it. The time that it takes grows with the logarithm of the number
// of prefixes.
type IPs struct{ Allow, Deny []netip.Prefix }

// Filter makes the filter.
func (f IPs) Filter() exchange.Filter {
	a := &addresses{all: len(f.Allow) == 0}
	var wrong problems
	for _, prefix := range slices.Concat(f.Allow, f.Deny) {
		wrong.want(prefix.IsValid(), "IPs: a prefix is not valid: use netip.MustParsePrefix")
	}
	wrong.want(len(f.Allow)+len(f.Deny) > 0, "IPs has no addresses")
	if len(wrong) == 0 {
		a.allow, a.deny = newRanges(f.Allow), newRanges(f.Deny)
	}
	return wrong.filter(exchange.Filter{Name: "ips", Before: a.before})
}

func (a *addresses) before(x *exchange.Exchange) error {
	client := x.Client()
	if a.deny.has(client) || !a.all && !a.allow.has(client) {
		return errAddressRefused
	}
	return nil
}

// ranges is sets of addresses, ordered and apart from each other; those of IPv4 come first.
type ranges []addressRange

type addressRange struct{ first, last netip.Addr }

func newRanges(prefixes []netip.Prefix) (merged ranges) {
	all := make(ranges, 0, len(prefixes))
	for _, p := range prefixes {
		if addr := p.Addr(); addr.Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(addr.Unmap(), p.Bits()-96)
		}
		p = p.Masked()
		all = append(all, addressRange{p.Addr(), lastOf(p)})
	}
	slices.SortFunc(all, func(a, b addressRange) int { return cmp.Or(a.first.Compare(b.first), a.last.Compare(b.last)) })
	for _, r := range all {
		if n := len(merged); n > 0 && r.first.BitLen() == merged[n-1].first.BitLen() && r.first.Compare(merged[n-1].last) <= 0 {
			if r.last.Compare(merged[n-1].last) > 0 {
				merged[n-1].last = r.last
			}
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

func lastOf(p netip.Prefix) netip.Addr {
	bytes := p.Addr().AsSlice()
	for i := range bytes {
		if bits := p.Bits() - 8*i; bits <= 0 {
			bytes[i] = 0xff
		} else if bits < 8 {
			bytes[i] |= 0xff >> bits
		}
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

func (r ranges) has(addr netip.Addr) bool {
	if !addr.IsValid() {
		return false
	}
	at, exact := slices.BinarySearchFunc(r, addr, func(r addressRange, a netip.Addr) int { return r.first.Compare(a) })
	return exact || at > 0 && addr.Compare(r[at-1].last) <= 0 && addr.BitLen() == r[at-1].first.BitLen()
}
