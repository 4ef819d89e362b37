package wire

import (
	"bytes"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/identity"
)

// TestAnotherImplementationThatWasWrittenFromThePageSpeaksToANode runs testdata/client.py, which has the handshake with a key, its
// ciphers and the records of its own.
func TestAnotherImplementationThatWasWrittenFromThePageSpeaksToANode(t *testing.T) {
	python := brokers.Program(t, "python3", "python3")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	known, err := identity.NewKnown(map[string]string{"go": nodeKey(t, billingKey).Public(), "python": nodeKey(t, ordersKey).Public()})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		proves := Config{Node: "go", Cluster: "c", Keys: keysOf(testKey), NodeKey: nodeKey(t, billingKey), NodeKeys: known}
		for _, c := range []Config{{Node: "go", Cluster: "c", Keys: keysOf(testKey)}, proves, {Node: "go", Cluster: "c", Keys: keysOf(otherKey)}} { // the last caller is turned away
			conn, err := listener.Accept()
			if err != nil {
				served <- err
				return
			}
			secured, peer, err := Handshake(t.Context(), conn, c, false, ForLink)
			if err != nil {
				served <- err
				return
			}
			shop := newNode()
			shop.serve["shop.buy"] = func(in *Inbound) { in.Reply(append(AppendRef(in.Buf(), 0), "\x05hello"...)) }
			l := New(secured, peer, c, shop)
			<-l.Done()
		}
	}()
	_, port, _ := strings.Cut(listener.Addr().String(), ":")
	client := func(proofs ...string) (string, error) {
		var out bytes.Buffer
		command := exec.CommandContext(t.Context(), python, append([]string{"testdata/client.py", "127.0.0.1", port, string(testKey)}, proofs...)...)
		command.Stdout, command.Stderr = &out, &out
		err := command.Run()
		return out.String(), err
	}
	if out, err := client(); err != nil || out != "go 000568656c6c6f\n" {
		t.Fatalf("the client prints %s, %v", out, err)
	}
	if out, err := client(ordersKey, nodeKey(t, billingKey).Public()); err != nil || out != "go 000568656c6c6f\n" {
		t.Fatalf("with a node key the client prints %s, %v", out, err)
	}
	if out, err := client(); err == nil || !strings.Contains(out, "reason 3") {
		t.Errorf("with another key than the node's it prints %s, %v", out, err)
	}
	if err := <-served; reasonOf(err) != ReasonKey {
		t.Errorf("the node says %v", err)
	}
}
