package dashboard

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The bounds of login attempts: from one address (a /64 of IPv6), and from all together, so that many addresses help little.
const (
	attemptsAtOnce = 5
	attemptEvery   = 5 * time.Second
	allAtOnce      = 100
	allEvery       = time.Second
	maxAddresses   = 1024
)

// attempts counts the clients that tried wrong keys. Right ones cost nothing.
type attempts struct {
	now func() time.Time

	mu   sync.Mutex
	all  *rate.Limiter
	from map[netip.Prefix]*rate.Limiter
}

func newAttempts(now func() time.Time) *attempts {
	return &attempts{now: now, all: rate.NewLimiter(rate.Every(allEvery), allAtOnce), from: make(map[netip.Prefix]*rate.Limiter)}
}

// allow reports whether an address may try a key now.
func (a *attempts) allow(from netip.Addr) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	one := a.from[sourceOf(from)]
	return a.all.TokensAt(now) >= 1 && (one == nil || one.TokensAt(now) >= 1)
}

// failed notes a wrong key.
func (a *attempts) failed(from netip.Addr) {
	who := sourceOf(from)
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if a.from[who] == nil {
		if len(a.from) >= maxAddresses {
			a.forget(now)
		}
		a.from[who] = rate.NewLimiter(rate.Every(attemptEvery), attemptsAtOnce)
	}
	a.from[who].AllowN(now, 1)
	a.all.AllowN(now, 1)
}

// forget drops the addresses that have not tried lately, and all of them where each has: a.all still holds then.
func (a *attempts) forget(now time.Time) {
	for who, one := range a.from {
		if one.TokensAt(now) >= attemptsAtOnce {
			delete(a.from, who)
		}
	}
	if len(a.from) >= maxAddresses {
		clear(a.from)
	}
}

// sourceOf is the network that an address is in; the zero one for what is no address.
func sourceOf(from netip.Addr) netip.Prefix {
	bits := 32
	ip := from.Unmap().WithZone("")
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits)
	return p
}
