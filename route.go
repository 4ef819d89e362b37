package sabir

import (
	stdjson "encoding/json"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/introspect"
)

// route answers $node.route: from an introspect.Route to a list of them.
func (n *Node) route(text stdjson.RawMessage) (stdjson.RawMessage, error) {
	var in introspect.Route
	if err := json.Codec.Decode(text, &in); err != nil {
		return nil, badInput(n, "the input of $node.route", err)
	}
	d := membership.Decision{Route: in.Name, Drain: in.Undrain, Ended: len(in.Shares) == 0}
	for _, s := range in.Shares {
		d.Shares = append(d.Shares, membership.Share(s))
	}
	switch {
	case len(d.Shares) > 0 && d.Route == "":
		return nil, &Error{Code: CodeInvalidArgument, Name: nameBadInput, Node: n.id, Message: "the input of $node.route has shares and no name of what is shared out"}
	case d.Drain != "" && !n.decisions.Load().Drained(d.Drain):
		return nil, n.notFoundAmong("drained node", d.Drain, nil)
	case d.Drain != "" || d.Route != "":
		if err := n.settle(d); err != nil {
			return nil, err
		}
	}
	return json.Codec.Append(nil, n.routes())
}

// routes lists how calls are shared out.
func (n *Node) routes() []introspect.Route {
	list := []introspect.Route{}
	for _, d := range n.decisions.Load().Routes() {
		one := introspect.Route{Name: d.Route}
		for _, s := range d.Shares {
			one.Shares = append(one.Shares, introspect.Share(s))
		}
		list = append(list, one)
	}
	return list
}

// splitName is the endpoint of a name without a version whose calls are shared out among versions. Node.endpointFor chooses for each call.
type splitName struct {
	endpoint // what the name stands for as usual: the rest of the calls is its
	versions []endpoint
	spread   *membership.Spread
}

func (s *splitName) pick(key string) endpoint {
	if i := s.spread.Pick(key); i < len(s.versions) {
		return s.versions[i]
	}
	return s.endpoint
}

// usual is the endpoint that a name stands for where calls are not shared out.
func usual(e endpoint) endpoint {
	if s, split := e.(*splitName); split {
		return s.endpoint
	}
	return e
}

// offeredVersion is an action in one version of its service.
type offeredVersion struct {
	version
	endpoint endpoint
}

// splitNames has the calls of names without a version shared out among versions, where operators decided that. The rest goes to the version that
// the name would stand for without those that have a share: so a new version has its share from its first call on, and not all. The table must
// be complete.
func (n *Node) splitNames(t *routingTable) {
	decided := n.decisions.Load()
	some := false
	for _, d := range decided.Routes() {
		some = some || d.Shares[0].Version() > 0
	}
	if !some {
		return
	}
	offered := make(map[string][]offeredVersion) // by name without version
	for name, e := range t.all {
		a := e.info()
		if a.Name != name { // the share of a version that was lost, which is not among them, goes to the rest
			continue
		}
		one := offeredVersion{version{full: a.Service, number: a.Version}, e}
		if remote, ok := e.(*remoteAction); ok {
			one.preferred = remote.preferred
		} else if p := t.byFull[a.Service]; p != nil {
			one.preferred = p.service.preferred
		}
		name = a.unversioned()
		offered[name] = append(offered[name], one)
	}
	for name, versions := range offered {
		if s := splitOf(decided.Shares(name), versions); s != nil {
			t.actions[name] = s
		}
	}
}

// splitOf divides the calls of a name; nil where no version that is offered has a share.
func splitOf(shares []membership.Share, versions []offeredVersion) *splitName {
	var s splitName
	var percent []float64
	var rest *offeredVersion
	for i := range versions {
		one := &versions[i]
		if share := shareOf(shares, one.number); share > 0 {
			s.versions, percent = append(s.versions, one.endpoint), append(percent, share)
		} else if rest == nil || preferredOver(one.version, rest.version) {
			rest = one
		}
	}
	if s.versions == nil || rest == nil && len(s.versions) == 1 {
		return nil
	}
	if rest == nil {
		percent = wholly(percent)
		s.endpoint, s.versions = s.versions[len(s.versions)-1], s.versions[:len(s.versions)-1]
	} else {
		s.endpoint = rest.endpoint
	}
	s.spread = membership.NewSpread(percent...)
	return &s
}

// shareOf is the percentage of a version; 0 for none.
func shareOf(shares []membership.Share, version int) float64 {
	for _, share := range shares {
		if version > 0 && share.Version() == version {
			return share.Percent
		}
	}
	return 0
}

// wholly makes percentages 100 together, and leaves out the last one, which is the rest then.
func wholly(percent []float64) []float64 {
	sum := 0.0
	for _, p := range percent {
		sum += p
	}
	for i := range percent {
		percent[i] *= 100 / sum
	}
	return percent[:len(percent)-1]
}

// sharedOut is the nodes of a choice in parts, of which each gets a share of the calls.
type sharedOut struct {
	parts  []*choice // the last is the rest
	spread *membership.Spread
}

// shareOut divides the nodes of a choice as operators decided for the action; nil where all are one part.
func (c *choice) shareOut(shares []membership.Share) *sharedOut {
	rest := c.nodes
	var parts []*choice
	var percent []float64
	for _, share := range shares {
		var taken, left []provider
		for i := range rest {
			if share.Takes(rest[i].candidate) {
				taken = append(taken, rest[i])
			} else {
				left = append(left, rest[i])
			}
		}
		if taken != nil {
			parts, percent = append(parts, &choice{nodes: taken, candidates: candidatesOf(taken)}), append(percent, share.Percent)
		}
		rest = left
	}
	switch {
	case rest != nil:
		parts = append(parts, &choice{nodes: rest, candidates: candidatesOf(rest)})
	case len(percent) > 0: // the shares are all there is
		percent = wholly(percent)
	}
	if len(parts) < 2 {
		return nil
	}
	return &sharedOut{parts, membership.NewSpread(percent...)}
}

// share is the part of the choice that a call goes to.
func (c *choice) share(key string) *choice {
	if c.shared == nil && c.few != nil && key == "" {
		return c.few
	}
	if c.shared == nil {
		return c
	}
	return c.shared.parts[c.shared.spread.Pick(key)]
}
