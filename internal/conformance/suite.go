package conformance

import (
	"sync"
	"testing"

	"github.com/sabir-go/sabir/cluster"
)

// Transport describes a transport to the suite: how a cluster gets its address, and with which options its nodes join.
type Transport struct {
	// Name is for the names of the tests: "tcp", "tcp with a key".
	Name string
	// Address returns an address that no other cluster uses. It may leave the choice of a port to the system; the nodes
	// that start later join at the address that the first one reports.
	Address func(t testing.TB) string
	// Key is the cluster key of every node; "" is none. It is not among the Options because some tests give a node another one.
	Key string
	// Options are the options that every node passes to Join.
	Options []cluster.Option
	// Proven is the name that every node proves by its certificate; "" where nodes prove none, so that their ids count.
	Proven string
	// Processes means that nodes in different processes can be linked, with Options that are the same in each process: the
	// test binary is then started again as a node that can be killed. See [Main].
	Processes bool
	// Broker means that Address is a broker's: nodes meet there, those of clusters with other names do not see each other,
	// and a node that is killed is found out by the broker's silence.
	Broker bool
	// Silent means that nothing reports a process that was killed: its links end by its silence.
	Silent bool
	// Connections is the number of links that two nodes have, by the Options; 0 is one. The loss of each shows by itself.
	Connections int
}

// Run puts the transport through every behaviour. Each is a parallel subtest that is named after it; they wait more than
// they work, so let many run at once (the flag -parallel).
func Run(t *testing.T, tr Transport) {
	t.Run(tr.Name, func(t *testing.T) {
		t.Parallel()
		s := &suite{Transport: tr, parent: t}
		t.Cleanup(func() { s.stopping.Wait() })
		s.startThreeNodes(t)
		for _, part := range parts {
			for _, b := range part.behaviours {
				t.Run(b.name, func(t *testing.T) {
					t.Parallel()
					b.run(t, s)
				})
			}
		}
	})
}

// Part is a group of behaviours of one subject.
type Part struct {
	Subject    string
	Behaviours []string
}

// Behaviours lists the behaviours that [Run] proves, in sentences.
func Behaviours() []Part {
	var list []Part
	for _, part := range parts {
		p := Part{Subject: part.subject}
		for _, b := range part.behaviours {
			p.Behaviours = append(p.Behaviours, b.name)
		}
		list = append(list, p)
	}
	return list
}

type part struct {
	subject    string
	behaviours []behaviour
}

type behaviour struct {
	name string
	run  func(t *testing.T, s *suite)
}

// parts is the one table of what is proved.
var parts = []part{
	{"Calls", callBehaviours},
	{"Errors", errorBehaviours},
	{"Deadlines, cancellation and context", contextBehaviours},
	{"Events", eventBehaviours},
	{"Streams", streamBehaviours},
	{"Names and listings", nameBehaviours},
	{"Balancing", balanceBehaviours},
	{"Nodes that come and go", lifeBehaviours},
	{"Faults", faultBehaviours},
	{"Who may come in, and how much", limitBehaviours},
	{"Policies, HTTP and client-only nodes", faceBehaviours},
	{"Processes", processBehaviours},
	{"Processes of nodes that come and go", processLossBehaviours},
}

// suite is a transport under test.
type suite struct {
	Transport
	threeNodes *threeNodes
	parent     *testing.T     // the test that lasts as long as the suite
	stopping   sync.WaitGroup // nodes that are being stopped
}
