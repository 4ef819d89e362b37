package gossip

import (
	"encoding/json"
	"fmt"

	"github.com/hashicorp/memberlist"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/membership"
)

// encodeMeta fails for what cannot be sent to other nodes, and names the part that is too large.
func encodeMeta(m membership.Member) ([]byte, error) {
	if bad := identity.BadID(m.ID); bad != "" {
		return nil, fmt.Errorf("the id %.100q of this node %s", m.ID, bad)
	}
	if m.Addr != "" {
		if err := identity.CheckURL(m.Addr); err != nil {
			return nil, fmt.Errorf("this node's address: %w", err)
		}
	}
	data, err := json.Marshal(identity.Meta{Addr: m.Addr, ClientOnly: m.ClientOnly, Instance: m.Instance})
	if err != nil {
		return nil, fmt.Errorf("the description of node %q: %w", m.ID, err)
	}
	if len(data) > memberlist.MetaMaxSize {
		return nil, fmt.Errorf("the address %.40q of node %q takes %d bytes, %d too many", m.Addr, m.ID, len(data), len(data)-memberlist.MetaMaxSize)
	}
	return data, nil
}

// decodeMeta never trusts the other node.
func decodeMeta(id string, data []byte) (membership.Member, error) {
	if len(data) > memberlist.MetaMaxSize {
		return membership.Member{}, fmt.Errorf("its description has %d bytes; %d is the limit", len(data), memberlist.MetaMaxSize)
	}
	var got identity.Meta
	if err := json.Unmarshal(data, &got); err != nil {
		return membership.Member{}, fmt.Errorf("its description: %w", err)
	}
	if got.Addr != "" {
		if err := identity.CheckURL(got.Addr); err != nil {
			return membership.Member{}, err
		}
	}
	return membership.Member{ID: id, Addr: got.Addr, ClientOnly: got.ClientOnly, Instance: got.Instance}, nil
}

// goodbye is sent to each other node by a node that leaves.
type goodbye struct {
	ID       string `json:"goodbye"`
	Instance uint64 `json:"i"`
}

func encodeGoodbye(self membership.Member) []byte {
	data, err := json.Marshal(goodbye{self.ID, self.Instance})
	if err != nil {
		panic(err) // a string and a number
	}
	return data
}

func decodeGoodbye(data []byte) (id string, instance uint64, err error) {
	var got goodbye
	if err := json.Unmarshal(data, &got); err != nil {
		return "", 0, err
	}
	return got.ID, got.Instance, nil
}
