package mesh

import (
	"fmt"
	"testing"
)

// A node that more others chose than the rest would have more links than the rest.
func TestEachNodeIsANeighbourOfAsManyAsItChooses(t *testing.T) {
	const nodes = 300
	chosen, chooses := make(map[string]int), make(map[string]int)
	for self := range nodes {
		m := &Mesh{config: Config{Node: fmt.Sprintf("n%d", self)}, peers: make(map[string]*Peer), membersChanged: true}
		for other := range nodes {
			if other != self {
				p := &Peer{ID: fmt.Sprintf("n%d", other)}
				p.member.ID, p.redial = p.ID, func() {}
				m.peers[p.ID] = p
			}
		}
		m.chooseNeighbours()
		for id, p := range m.peers {
			if p.neighbour {
				chosen[id]++
				chooses[m.config.Node]++
			}
		}
	}
	for node := range chooses {
		if chooses[node] > neighbourCount || chooses[node] < neighbourCount-1 || chosen[node] > neighbourCount || chosen[node] < neighbourCount-1 {
			t.Errorf("%s chooses %d and is chosen by %d", node, chooses[node], chosen[node])
		}
	}
}
