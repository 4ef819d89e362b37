// Package gossip links the gossip by which nodes find each other into a program. The transports of Sabir that dial addresses
// import it; a transport of your own does the same:
//
//	import _ "github.com/sabir-go/sabir/cluster/gossip"
package gossip

import _ "github.com/sabir-go/sabir/internal/membership/gossip" // it registers itself
