// Package mem is the transport mem://name: connections between nodes of one process, mostly for tests. Importing it registers
// [Default] under that scheme:
//
//	a := sabir.NewNode(sabir.NodeID("a"), sabir.Join("mem://test"))
//	b := sabir.NewNode(sabir.NodeID("b"), sabir.Join("mem://test"))
//
// Connections behave as those of a network do: bounded buffers, deadlines, half close. [Network.Cut] and [Network.Stall]
// make the faults that networks have, at the moment a test wants them. All waits are on condition variables, channels and
// timers, so it works inside a bubble of testing/synctest; listen and dial in the same bubble.
package mem

import (
	_ "github.com/sabir-go/sabir/internal/gossip" // by which the nodes of a cluster find each other
	"github.com/sabir-go/sabir/transport"
)

// Default is the network behind mem:// addresses.
var Default = New()

func init() { transport.Register("mem", Default) }
