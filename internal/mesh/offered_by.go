package mesh

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/wire"
)

// leaveOut takes the services out of a catalog that its node may not offer here, see cluster.Config.OfferedBy.
func (m *Mesh) leaveOut(from wire.Peer, c *membership.Catalog) {
	if m.config.OfferedBy == nil {
		return
	}
	var refused []string
	c.Services = slices.DeleteFunc(c.Services, func(s membership.Service) bool {
		if m.mayOffer(from.Names, &s) {
			return false
		}
		refused = append(refused, s.Name)
		if c.Base != 0 { // the node may have offered it in another form
			c.Gone = append(c.Gone, membership.ServiceKey{Name: s.Name, Version: s.Version})
		}
		return true
	})
	if refused != nil {
		m.log.Warn("a node offers services that are not its own here (cluster.Config.OfferedBy): they are left out",
			"node", m.config.Node, "peer", from.Node, "names", from.Names, "services", refused)
	}
}

// mayOffer reports whether a node with the names may offer the service, and be a member of the groups in which it gets events. A node that was
// taken over writes its catalog as it likes: actions of another service, or a service whose name is another's with more behind it.
func (m *Mesh) mayOffer(names []string, s *membership.Service) bool {
	full := s.Name
	if s.Version > 0 {
		full = fmt.Sprintf("v%d.%s", s.Version, s.Name)
	}
	return m.mayBe(names, s.Name) && m.mayBe(names, s.Group) &&
		!slices.ContainsFunc(s.Actions, func(a membership.Action) bool { return !strings.HasPrefix(a.Name, full+".") }) &&
		!slices.ContainsFunc(s.Events, func(e membership.Subscription) bool { return !m.mayBe(names, e.Group) })
}

// withoutVersion is a name without the version that stands before the name of a service in those of its actions, as in v2.orders.
func withoutVersion(name string) string {
	version, rest, found := strings.Cut(name, ".")
	if digits, isVersion := strings.CutPrefix(version, "v"); found && isVersion && digits != "" && strings.Trim(digits, "0123456789") == "" {
		return rest
	}
	return name
}

// mayBe reports whether all rules about the name, and about what stands before a dot in it, are for a node with the names.
func (m *Mesh) mayBe(names []string, name string) bool {
	for _, name := range []string{name, withoutVersion(name)} {
		for more := true; more; name, more = cutLast(name) {
			for pattern, nodes := range m.config.OfferedBy {
				if ok, _ := path.Match(pattern, name); ok && !identity.Takes(nodes, names) {
					return false
				}
			}
		}
	}
	return true
}

// cutLast is a name without the last of its words; false where it has one.
func cutLast(name string) (string, bool) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], i > 0
}
