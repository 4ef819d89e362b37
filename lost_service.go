package sabir

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
)

// lostOf returns what nodes that have gone offered of a service of the table before, as a service without nodes, whose actions are made when they
// are looked up, as those of others; nil where none has gone, or all that they offered is there still.
func (n *Node) lostOf(s *remoteService, t *routingTable, before *membership.View, others map[string]provider, now time.Time) *remoteService {
	lost := &remoteService{version: version{full: s.full}, node: n, name: s.name, lost: now}
	lost.number, lost.preferred = s.number, s.preferred
	known := make(map[*membership.Service]bool)
	for i := range s.nodes {
		if p, offer := &s.nodes[i], s.offers[i]; p.candidate != nil && !p.isHere() && hasGone(p, others, before, t.view) {
			lost.offers = append(lost.offers, offer)
			if !known[offer.Service] {
				known[offer.Service] = true
				lost.described = append(lost.described, offer.Service)
			}
		}
	}
	if !t.lacks(lost) {
		return nil
	}
	lost.makeIndex()
	s.made.Range(func(short, known any) bool {
		if o := lost.find(short.(string)); o.action != nil && !t.offers(o.action.Name) { // else it is the action of those that offer it now
			lost.make(o, known.(*remoteAction))
		}
		return true
	})
	return lost
}

// hasGone reports whether a node has gone: it is not there, or another run of it is.
func hasGone(p *provider, others map[string]provider, before, now *membership.View) bool {
	other, there := others[p.id]
	was, is := before.Catalog(p.id), now.Catalog(p.id)
	return !there || !other.same(p) || was == nil || is == nil || was.Instance != is.Instance
}

// lacks reports whether no node offers one of the actions of a service that was lost.
func (t *routingTable) lacks(lost *remoteService) bool {
	for _, d := range lost.described {
		for i := range d.Actions {
			if _, ok := lost.shortName(&d.Actions[i]); ok && !t.offers(d.Actions[i].Name) {
				return true
			}
		}
	}
	return false
}

// stillAbsent returns those losses of a service, the newest first, that are not too long ago, and have actions that neither a node nor a newer
// loss has.
func (t *routingTable) stillAbsent(full string, lost []*remoteService, now time.Time) []*remoteService {
	gone := t.remote[full] == nil && t.byFull[full] == nil // then all of it is absent
	if gone && len(lost) == 1 && now.Sub(lost[0].lost) < absentFor {
		return lost
	}
	var still []*remoteService
	for _, s := range lost {
		if now.Sub(s.lost) < absentFor && t.lacks(s) && !s.hidden(still) {
			still = append(still, s)
		}
	}
	return still
}

// hidden reports whether newer losses have all actions of the service.
func (s *remoteService) hidden(newer []*remoteService) bool {
	for _, o := range s.all() {
		if !has(newer, o.short) {
			return false
		}
	}
	return true
}

// has reports whether one of the losses has an action of that name within the service.
func has(lost []*remoteService, short string) bool {
	for _, s := range lost {
		if s.has(short) {
			return true
		}
	}
	return false
}

// boundAbsent forgets the oldest losses where there are too many actions in all.
func (t *routingTable) boundAbsent() {
	count := 0
	var all []*remoteService
	for _, lost := range t.absent {
		for _, s := range lost {
			count += s.size()
			all = append(all, s)
		}
	}
	if count <= maxAbsent {
		return
	}
	sort.Slice(all, func(i, j int) bool { return all[i].lost.Before(all[j].lost) }) // slices.SortFunc takes more of the program
	for _, s := range all {
		if count <= maxAbsent {
			return
		}
		count -= s.size()
		kept := t.absent[s.full]
		if kept = kept[:len(kept)-1]; len(kept) == 0 { // s, as the oldest ones are the last
			delete(t.absent, s.full)
		} else {
			t.absent[s.full] = kept
		}
	}
}

// size is the number of actions in the descriptions of the service.
func (s *remoteService) size() (n int) {
	for _, d := range s.described {
		n += len(d.Actions)
	}
	return n
}

// findAbsent is the absent action that a name with or without a version would reach; nil for none.
func (t *routingTable) findAbsent(name string) *remoteAction {
	if len(t.absent) == 0 {
		return nil
	}
	for _, lost := range []map[string][]*remoteService{t.absent, t.absentVersions} {
		for i := len(name) - 1; i > 0; i-- {
			if name[i] != '.' {
				continue
			}
			for _, s := range lost[name[:i]] {
				if a := s.action(name[i+1:]); a != nil {
					return a
				}
			}
		}
	}
	return nil
}

// isAbsent reports whether an endpoint is of an absent action.
func (t *routingTable) isAbsent(e endpoint) bool {
	a, remote := e.(*remoteAction)
	if !remote {
		return false
	}
	for _, s := range t.absent[a.action.Service] {
		if made, ok := s.made.Load(a.action.Short); ok && made == a {
			return !t.offers(a.action.Name)
		}
	}
	return false
}

// absentNames lists the names that reach an absent action.
func (t *routingTable) absentNames() (list []string) {
	for _, lost := range []map[string][]*remoteService{t.absent, t.absentVersions} {
		for service, all := range lost {
			for _, s := range all {
				for _, o := range s.all() {
					list = append(list, service+"."+o.short)
				}
			}
		}
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(name string) bool { return t.actions[name] != nil || t.findRemote(name) != nil })
}

// rank is the greater, the sooner names without a version reach this version of a service: see preferredOver.
func (v version) rank() int {
	switch {
	case v.number == 0:
		return math.MaxInt
	case v.preferred:
		return math.MaxInt/2 + v.number
	}
	return v.number
}

// version makes the version of the action's service, so that it has a rank.
func (a *remoteAction) version() version {
	return version{full: a.action.Service, number: a.action.Version, preferred: a.preferred}
}

// lose has the action be absent: the first of the nodes that offered it is named in the errors of its calls.
func (a *remoteAction) lose(s *remoteService) {
	node := ""
	for _, o := range s.offers {
		if o.Service.Offers(a.action.Name) {
			node = o.Node
			break
		}
	}
	a.providers.Store(&providers{})
	a.lost.Store(&loss{node, s.lost})
}
