package membership

import (
	"errors"
	"reflect"
)

// Since is the difference to an earlier catalog of the same run of the node: what came, what changed and what went. It reports false
// where the two offer the same.
func (c *Catalog) Since(old *Catalog) (difference Catalog, changed bool) {
	difference = Catalog{Node: c.Node, Instance: c.Instance, Version: c.Version, Base: old.Version, Waiting: c.Waiting, Decisions: c.Decisions, Place: c.Place}
	before := old.byName()
	for i := range c.Services {
		s := &c.Services[i]
		if known := before[s.key()]; known == nil || !s.same(known) {
			difference.Services = append(difference.Services, *s)
		}
		delete(before, s.key())
	}
	for i := range old.Services {
		if key := old.Services[i].key(); before[key] != nil {
			difference.Gone = append(difference.Gone, key)
		}
	}
	changed = len(difference.Services)+len(difference.Gone) > 0 || !reflect.DeepEqual(c.Waiting, old.Waiting) || !reflect.DeepEqual(c.Decisions, old.Decisions) || !reflect.DeepEqual(c.Place, old.Place)
	return difference, changed
}

// ErrWrongBase means that a difference is one to another catalog. The whole is needed.
var ErrWrongBase = errors.New("catalog: a difference to another version")

// With is the catalog that a difference makes of c, checked as a whole. Services that stay are the same ones. The error is ErrWrongBase where the
// difference is not one to c, which may be nil, or where so many were put together that the whole may be larger than a catalog can be.
func (c *Catalog) With(difference *Catalog) (Catalog, error) {
	if c == nil {
		return Catalog{}, ErrWrongBase
	}
	next := *difference
	next.size += c.size
	if c.Instance != difference.Instance || c.Version != difference.Base || next.size > MaxCatalog {
		return Catalog{}, ErrWrongBase
	}
	replaced := difference.byName()
	for _, key := range difference.Gone {
		replaced[key] = nil
	}
	next.Base, next.Gone, next.Services = 0, nil, make([]Service, 0, len(c.Services)+len(difference.Services))
	for i := range c.Services {
		if _, gone := replaced[c.Services[i].key()]; !gone {
			next.Services = append(next.Services, c.Services[i])
		}
	}
	next.Services = append(next.Services, difference.Services...)
	return next, next.Check()
}

// byName has the services by what tells them apart.
func (c *Catalog) byName() map[ServiceKey]*Service {
	services := make(map[ServiceKey]*Service, len(c.Services))
	for i := range c.Services {
		services[c.Services[i].key()] = &c.Services[i]
	}
	return services
}

// ServiceKey tells one service of a node from the others.
type ServiceKey struct {
	Name    string `json:"name"`
	Version int    `json:"version,omitempty"`
}

func (s *Service) key() ServiceKey { return ServiceKey{s.Name, s.Version} }

// same reports whether the two are described alike. It is quick where they are copies of one: then they share their lists.
func (s *Service) same(other *Service) bool {
	return s == other || reflect.DeepEqual(s, other)
}
