package mesh

import (
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/transport"
)

// maxLookedUp bounds the addresses of a name that are used at once. A cluster is found by a few of them.
const maxLookedUp = 16

// resolvedNames holds the addresses that names of seeds and of members have turned out to stand for, so that they are dialled
// by number and still under their name, which certificates are for.
type resolvedNames struct {
	mu    sync.Mutex
	dials map[string]resolvedName // by the URL with the number in it
}

type resolvedName struct {
	url string
	ip  netip.Addr
}

// lookup returns what to dial for the URL of a seed or of a member: one URL for each address of its name, in random order, so
// that not all nodes begin with the same one, and without this node's own. A URL without a name, or with one that stands for one
// address or for none, is returned as it is.
//
// To leave it to the dialler would find one address only, which may be this node's own: a headless Service of Kubernetes is one
// name for all nodes.
func (m *Mesh) lookup(ctx context.Context, address string) []string {
	u := named(address)
	if u == nil || m.hub != nil {
		return []string{address}
	}
	ctx, cancel := m.transport.WithDialLimit(ctx) // a name server that is silent takes 10 s by default, and dialling asks it once more
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	cancel()
	if err != nil || len(ips) == 0 {
		return []string{address} // dialling it gives an error that names it
	}
	rand.Shuffle(len(ips), func(i, j int) { ips[i], ips[j] = ips[j], ips[i] })
	found := make(map[string]resolvedName)
	var list []string
	for _, ip := range ips {
		u.Host = net.JoinHostPort(ip.Unmap().String(), u.Port())
		if dial := u.String(); dial != m.OwnAddress() && len(list) < maxLookedUp {
			found[dial] = resolvedName{address, ip.Unmap()}
			list = append(list, dial)
		}
	}
	if len(ips) == 1 && len(list) == 1 {
		return []string{address}
	}
	m.resolved.replace(address, found)
	return list
}

// named returns the URL of an address whose host is a name that a name server knows; nil for another.
func named(address string) *url.URL {
	u, err := schemes.Parse(address)
	if err != nil || u.Port() == "" || u.Hostname() == "" || strings.EqualFold(u.Hostname(), "localhost") {
		return nil
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return nil
	}
	return u
}

// replace sets the addresses of a name, and forgets those that it had before.
func (r *resolvedNames) replace(url string, found map[string]resolvedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for dial, name := range r.dials {
		if name.url == url {
			delete(r.dials, dial)
		}
	}
	if r.dials == nil {
		r.dials = make(map[string]resolvedName)
	}
	maps.Copy(r.dials, found)
}

// dialConfig returns the URL to dial for an address, and the configuration to dial it with.
func (r *resolvedNames) dialConfig(address string, config transport.Config) (string, transport.Config) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name, ok := r.dials[address]; ok {
		config.Resolved = name.ip
		return name.url, config
	}
	return address, config
}
