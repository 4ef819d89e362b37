package membership

import (
	"fmt"
	"maps"
)

// Place holds the zone and the labels of a node. Nodes share one, so its labels are never changed.
type Place struct {
	Zone   string            `json:"zone,omitempty"`   // what Nearest prefers first; "" for none
	Labels map[string]string `json:"labels,omitempty"` // what Nearest prefers next, and shares of calls go by
}

// MaxLabels bounds the labels of a node.
const MaxLabels = 256

// Equal reports whether the two are the same.
func (p *Place) Equal(other *Place) bool {
	return p.Zone == other.Zone && maps.Equal(p.Labels, other.Labels)
}

// CheckPlace returns what is wrong with a place: too many labels, or one that is too long. It is no method: the linker would keep that in programs
// that never join.
func CheckPlace(p *Place) error {
	if len(p.Labels) > MaxLabels {
		return fmt.Errorf("%d labels; %d is the limit", len(p.Labels), MaxLabels)
	}
	if len(p.Zone) > maxText {
		return fmt.Errorf("the zone %.40q… has %d bytes; %d is the limit", p.Zone, len(p.Zone), maxText)
	}
	for key, value := range p.Labels {
		if n := len(key) + len(value); n > maxText {
			return fmt.Errorf("the label %.40q has %d bytes with its value; %d is the limit", key, n, maxText)
		}
	}
	return nil
}
