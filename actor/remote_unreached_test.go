package actor_test

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/internal/wire"
)

// otherVersion is a system of processes of another version of their protocol, as far as it says hello.
type otherVersion struct {
	self  string
	hello chan uint64 // the versions that others said hello with
}

const helloOpcode, helloVersion, processTopic = 1, 99, 16

func (o otherVersion) Name() string                             { return "processes" }
func (o otherVersion) Start(context.Context, *sabir.Node) error { return nil }
func (o otherVersion) Stop(context.Context) error               { return nil }
func (o otherVersion) Topic() uint8                             { return processTopic }
func (o otherVersion) Unlinked(*wire.Link, error)               {}

func (o otherVersion) Linked(l *wire.Link) {
	if o.self < l.Peer().Node {
		l.TryPost(processTopic, o.post())
	}
}

func (o otherVersion) Posted(l *wire.Link, data []byte) {
	version, _ := binary.Uvarint(data[1:])
	o.hello <- version
	if o.self > l.Peer().Node {
		l.TryPost(processTopic, o.post())
	}
}

func (o otherVersion) post() []byte {
	post := binary.AppendUvarint([]byte{helloOpcode}, helloVersion)
	post = binary.LittleEndian.AppendUint64(post, 7)
	return binary.AppendUvarint(post, 1)
}

// Which of two nodes says hello first goes by their names: m does where the other one is z.
func TestWhoSendsToANodeOfAnotherProtocolOfProcessesLearnsWhy(t *testing.T) {
	for _, other := range []string{"a", "z"} {
		t.Run(other, func(t *testing.T) {
			m := startMember(t, "m", "mem://another-protocol-"+other)
			old := otherVersion{other, make(chan uint64, 8)}
			n := sabir.NewNode(sabir.NodeID(other), sabir.Logger(quiet), sabir.WithExtension(old), sabir.Join(m.node.Info().Addr))
			if err := n.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = n.Stop(context.Background()) })
			if version := <-old.hello; version == 0 || version == helloVersion {
				t.Errorf("the node said hello with version %d", version)
			}
			to := actor.Name{Name: "box", Node: other}
			text := awaitText(t, "speaks version 99", func() error { return actor.Send(m.System, to, item{}) })
			if !strings.Contains(text, "this node version 2: run the same minor version of Sabir on both") {
				t.Errorf("the error is %q", text)
			}
			_, err := actor.Spawn(m.System, childBehavior, childArgs{}, actor.SpawnConfig{Node: other})
			if !errors.Is(err, actor.ErrNoConnection) || !strings.Contains(err.Error(), "speaks version 99") {
				t.Errorf("the error of a spawn is %v", err)
			}
		})
	}
}

// awaitText tries until the error has the text.
func awaitText(t *testing.T, text string, try func() error) string {
	t.Helper()
	for {
		err := try()
		if !errors.Is(err, actor.ErrNoConnection) {
			t.Fatalf("the error is %v", err)
		}
		if strings.Contains(err.Error(), text) {
			return err.Error()
		}
		if t.Context().Err() != nil {
			t.Fatalf("the error is still %v", err)
		}
	}
}

func TestWhoSendsToANodeWithoutProcessesLearnsWhy(t *testing.T) {
	m := startMember(t, "m", "mem://"+t.Name())
	n := sabir.NewNode(sabir.NodeID("plain"), sabir.Logger(quiet), sabir.Join(m.node.Info().Addr))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	send := func(node string) func() error {
		return func() error { return actor.Send(m.System, actor.Name{Name: "box", Node: node}, item{}) }
	}
	awaitText(t, "no actor.System is among its options", send("plain"))
	awaitText(t, "there is no link to such a node", send("nowhere"))
	if err := n.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	awaitText(t, "there is no link to such a node", send("plain"))
}
