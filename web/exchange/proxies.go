package exchange

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Proxies names the proxies that stand in front of a server, so that the client's address is known instead of theirs: see
// TrustProxies of web.Config.
type Proxies struct {
	// From is the addresses of proxies that are trusted. A connection over a Unix socket, which has no address, is trusted
	// if From has any.
	From []netip.Prefix
	// Header is the one header that all of these proxies set, "X-Forwarded-For" or "Forwarded" (RFC 7239); the former if
	// empty. The other one is not read: what proxies do not set, they pass on from the caller.
	Header string
	// Untrusted, if not nil, is called for each request whose client is asked for and which has one of the two headers
	// although no proxy is named: probably there is one, and all its clients are taken for one.
	Untrusted func(connection netip.Addr)
}

// maxHops bounds how many addresses of a header are read, from its end.
const maxHops = 32

// Check returns what is wrong with the settings.
func (p *Proxies) Check() error {
	for _, prefix := range p.From {
		if !prefix.IsValid() {
			return fmt.Errorf("a prefix of a proxy is not valid")
		}
	}
	if p.Header != "" && !strings.EqualFold(p.Header, "X-Forwarded-For") && !strings.EqualFold(p.Header, "Forwarded") {
		return fmt.Errorf("proxies set %q: want \"X-Forwarded-For\" or \"Forwarded\"", p.Header)
	}
	return nil
}

// Client is the address that the request came from, by the proxies that the server trusts. Beginning at the connection's end, each proxy that is trusted names
// the one before it; the first address that is not one of them is the client's. Where a proxy names none, or what is no
// address, the client is the last one known: an address that cannot be proved is never taken. It is not valid for a
// connection without an address.
func (x *Exchange) Client() netip.Addr {
	client, p := x.Remote.Addr().Unmap().WithZone(""), x.Proxies
	if p == nil {
		return client
	}
	if len(p.From) == 0 {
		if p.Untrusted != nil && (x.Header.Get("X-Forwarded-For") != "" || x.Header.Get("Forwarded") != "") {
			p.Untrusted(client)
		}
		return client
	}
	if client.IsValid() && !p.Trusts(client) {
		return client
	}
	hops := p.hops(x)
	for _, hop := range hops {
		addr, ok := parseHop(hop)
		if !ok {
			return client
		}
		if client = addr; !p.Trusts(addr) {
			return client
		}
	}
	return client
}

// Trusts reports whether the address is one of the proxies.
func (p *Proxies) Trusts(addr netip.Addr) bool {
	for _, prefix := range p.From {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// hops returns the addresses that proxies have recorded, the last one first.
func (p *Proxies) hops(x *Exchange) []string {
	var hops []string
	forwarded := strings.EqualFold(p.Header, "Forwarded")
	name := "X-Forwarded-For"
	if forwarded {
		name = "Forwarded"
	}
	for line := range x.Header.All(name) {
		for _, item := range splitList(line) {
			if forwarded {
				item = forwardedFor(item)
			}
			hops = append(hops, item)
		}
	}
	if len(hops) > maxHops {
		hops = hops[len(hops)-maxHops:]
	}
	slices.Reverse(hops)
	return hops
}

// splitList splits a list at its commas, except in quoted strings (RFC 9110, section 5.6.1 and 5.6.4). Empty items count:
// leaving them out would shift one proxy's entry to another. One with an open quote is its last.
func splitList(line string) (items []string) {
	quoted, start := false, 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			items = append(items, strings.Trim(line[start:i], " \t"))
			start = i + 1
		}
	}
	return append(items, strings.Trim(line[start:], " \t"))
}

// forwardedFor is the value of "for" in an element of a Forwarded header; "" for none or two.
func forwardedFor(element string) (node string) {
	for len(element) > 0 {
		name, rest, ok := strings.Cut(element, "=")
		if !ok {
			return ""
		}
		var value string
		if strings.HasPrefix(rest, `"`) {
			end := 1
			for end < len(rest) && rest[end] != '"' {
				if rest[end] == '\\' {
					return "" // no address needs it
				}
				end++
			}
			if end == len(rest) {
				return ""
			}
			value, rest = rest[1:end], rest[end+1:]
			if rest != "" && rest[0] != ';' && strings.Trim(rest, " \t") != "" {
				return ""
			}
			rest = strings.TrimPrefix(rest, ";")
		} else {
			value, rest, _ = strings.Cut(rest, ";")
		}
		if strings.EqualFold(strings.Trim(name, " \t"), "for") {
			if node != "" {
				return ""
			}
			node = strings.Trim(value, " \t")
		}
		element = strings.Trim(rest, " \t")
	}
	return node
}

// parseHop reads an address with or without a port: "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]:80". What
// proxies write in place of one ("unknown", "_hidden") is none.
func parseHop(text string) (netip.Addr, bool) {
	if len(text) > 64 {
		return netip.Addr{}, false
	}
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone(""), true
	}
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		text = text[1 : len(text)-1]
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap().WithZone(""), err == nil
}
