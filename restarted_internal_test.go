package sabir

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/mesh"
)

func TestCallsForTheFormerSelfOfANodeDoNotGoToTheNewOne(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	begin := beginner(t, ctx)
	serve := func(id string) NodeOption {
		s := NewService("svc")
		Handle(s, "it", func(context.Context, int) (string, error) { return id, nil })
		return Serve(s)
	}
	a, b := begin("a", serve("a")), begin("b", serve("b"))
	caller := begin("caller")
	for changed := caller.Changed(); len(nodesOf(caller, "svc.it")) < 2; changed = caller.Changed() {
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("the caller does not know both nodes")
		}
	}
	awaitLinks(ctx, []*Node{a, b, caller})
	meshOf(a).StopDialing() // it does not come back

	m := meshOf(caller)
	anew := m.Peer("a").Link().Peer()
	var info mesh.Info
	if err := json.Unmarshal(anew.NodeInfo, &info); err != nil {
		t.Fatal(err)
	}
	info.Instance++
	text, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	anew.NodeInfo = text
	conn, silent := net.Pipe()
	defer silent.Close()
	go io.Copy(io.Discard, silent) // it is busy with its start
	caller.tableLock.Lock()        // the tables are as before
	m.AddLink(conn, anew)
	for range 4 {
		if on, err := Call[string](ctx, caller, "svc.it", 1, WithTimeout(5*time.Second)); on != "b" || err != nil {
			t.Errorf("the call: %s, %v", on, err)
		}
	}
	caller.tableLock.Unlock()
	if p := m.Peer("a"); p == nil || !bytes.Equal(p.Link().Peer().NodeInfo, text) {
		t.Errorf("the new one is not linked: %+v", p)
	}
}
