package membership

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Extent is how much of what a catalog may hold is taken, by one service or by several: so a node can refuse the service that would be
// too much for the others, without writing its whole catalog for each.
type Extent struct {
	Services, Actions, Subscriptions int

	bytes, fields int // of the JSON
}

// Extent measures a service. Its error is of what the service has that no catalog may have, such as a text that is too long.
func (s *Service) Extent() (Extent, error) {
	if err := s.check(); err != nil {
		return Extent{}, err
	}
	e := s.counts()
	text, err := json.Marshal(s)
	if err != nil {
		return Extent{}, err
	}
	e.bytes, e.fields = len(text)+1, bytes.Count(text, []byte{','})+1 // with the comma before the next
	return e, nil
}

func (s *Service) counts() Extent {
	return Extent{Services: 1, Actions: len(s.Actions), Subscriptions: len(s.Events)}
}

// Plus is both together.
func (e Extent) Plus(other Extent) Extent {
	return Extent{e.Services + other.Services, e.Actions + other.Actions, e.Subscriptions + other.Subscriptions, e.bytes + other.bytes, e.fields + other.fields}
}

// Minus takes out the other, which must be a part of it.
func (e Extent) Minus(other Extent) Extent {
	return Extent{e.Services - other.Services, e.Actions - other.Actions, e.Subscriptions - other.Subscriptions, e.bytes - other.bytes, e.fields - other.fields}
}

// Check returns an error that names the limit that it exceeds; nil for none.
func (e Extent) Check() error {
	for _, limit := range []struct {
		taken int
		what  string
		most  int
	}{
		{e.Services, "services", MaxServices},
		{e.Actions, "actions", MaxActions},
		{e.Subscriptions, "event subscriptions", MaxSubscriptions},
		{e.bytes, "bytes of names, types and descriptions", MaxCatalog - headBytes},
		{e.fields, "fields of descriptions", maxFields - headBytes/2},
	} {
		if limit.taken > limit.most {
			return fmt.Errorf("%d %s; %d is the limit", limit.taken, limit.what, limit.most)
		}
	}
	return nil
}

// headBytes is left in a catalog for its id and version, and for the services that wait.
const headBytes = 64 << 10
