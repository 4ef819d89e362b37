package sabir

import (
	"context"
	"io"
	"net"
	"testing"
	"time"
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
	a.mesh.Load().mu.Lock()
	a.mesh.Load().draining = true // it does not come back
	a.mesh.Load().mu.Unlock()

	m := caller.mesh.Load()
	anew := m.linkedPeer("a").link().Peer()
	about, err := parseAbout(anew.About)
	if err != nil {
		t.Fatal(err)
	}
	about.Instance++
	anew.About = about.json()
	conn, silent := net.Pipe()
	defer silent.Close()
	go io.Copy(io.Discard, silent) // it is busy with its start
	caller.tableLock.Lock()        // the tables are as before
	m.linked(conn, anew)
	for range 4 {
		if on, err := Call[string](ctx, caller, "svc.it", 1, Timeout(5*time.Second)); on != "b" || err != nil {
			t.Errorf("the call: %s, %v", on, err)
		}
	}
	caller.tableLock.Unlock()
	if p := m.linkedPeer("a"); p == nil || p.about.Instance != about.Instance {
		t.Errorf("the new one is not linked: %+v", p)
	}
}
