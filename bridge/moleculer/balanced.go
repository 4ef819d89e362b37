package moleculer

import (
	"strings"

	"github.com/sabir-go/sabir/internal/transports"
)

// shared takes the messages of a subject that the broker shares out among the nodes of a group.
type shared struct {
	group string
	take  func([]byte)
}

// share subscribes to the node's part of the calls and events of its services that the broker shares out, and to no more.
func (b *bridge) share(services []infoService) {
	if !b.DisableBalancer {
		return
	}
	want := make(map[string]shared)
	for _, s := range services {
		if strings.HasPrefix(s.Name, "$") {
			continue
		}
		for name := range s.Actions {
			want["REQB."+name] = shared{name, b.takeRequest}
		}
		for _, e := range s.Events {
			// As Moleculer's nodes do, so that all of a group have the same subjects: what comes behind ** is looked at again.
			pattern := e.Name
			if at := strings.Index(pattern, "**"); at >= 0 {
				pattern = pattern[:at] + ">"
			}
			want["EVENTB."+e.Group+"."+pattern] = shared{e.Group, b.takeEvent}
		}
	}
	b.balancing.Lock()
	defer b.balancing.Unlock()
	if b.sharesEnded {
		return
	}
	for subject, stop := range b.shares {
		if _, still := want[subject]; !still {
			stop()
			delete(b.shares, subject)
		}
	}
	if b.shares == nil {
		b.shares = make(map[string]func())
	}
	for subject, s := range want {
		if b.shares[subject] != nil {
			continue
		}
		stop, err := b.broker.(transports.Sharer).SubscribeShared(b.ctx, b.prefix+subject, s.group, s.take)
		if err != nil {
			b.note("a subject could not be subscribed to", subject, err)
			continue
		}
		b.shares[subject] = stop
	}
}

// endShares leaves all that is shared out to other nodes.
func (b *bridge) endShares() {
	b.balancing.Lock()
	defer b.balancing.Unlock()
	b.sharesEnded = true
	for subject, stop := range b.shares {
		stop()
		delete(b.shares, subject)
	}
}
