package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/introspect"
)

var nameBehaviours = []behaviour{
	{"a call to a node by name is handled there, whoever else offers the action", toNode},
	{"a call to a node that is not in the cluster is unavailable and names it", toUnknownNode},
	{"a call to a node that does not offer the action is not found and names the node", toNodeWithout},
	{"a name without a version, sent to a node, reaches the version that node prefers", toNodeShortName},
	{"an idempotent action is one for a call to a node by name too", toNodeIdempotent},
	{"private actions are neither listed nor reached, nor suggested as similar names", privateActions},
	{"actions for the cluster are listed and reached", clusterActions},
	{"a name without a version reaches the highest version in the whole cluster", highestVersion},
	{"a name without a version reaches the preferred version in the whole cluster", preferredVersion},
	{"a service without a version goes before all versions", unversioned},
	{"a service that is added later is found, and one that is removed is not", addedAndRemoved},
	{"a removed service that another node offers is called there", removedHere},
	{"all nodes list the same services, with the nodes that offer them", sameListing},
	{"a node lists the others with their zone, labels, address and round trip", nodeListing},
	{"the actions of another node are listed with their description and types", actionListing},
	{"$node answers for the node that is asked", nodeService},
	{"a service that needs another starts when a node offers that", needs},
}

// hosts serves the service on bob and cid; its action returns the node.
func hosts(t *testing.T, w *threeNodes, options ...sabir.ServiceOption) string {
	t.Helper()
	service := name()
	for _, on := range []*sabir.Node{w.bob, w.cid} {
		w.serve(t, on, reportingService(service, options...))
	}
	return service
}

// reportingService has an action "it" that answers with the service and the node that serve it.
func reportingService(name string, options ...sabir.ServiceOption) *sabir.Service {
	s := sabir.NewService(name, options...)
	sabir.Handle(s, "it", func(ctx context.Context, _ int) (string, error) {
		return sabir.InfoFromContext(ctx).Service + " on " + sabir.NodeFromContext(ctx).ID(), nil
	})
	return s
}

func toNode(t *testing.T, s *suite) {
	w := s.threeNodes
	service := hosts(t, w)
	w.serve(t, w.ann, reportingService(service))
	it := sabir.Bind[int, string](w.ann, service+".it")
	for _, node := range []string{"ann", "bob", "cid", "cid", "bob"} {
		for range 3 {
			out, err := sabir.Call[string](brief(t), w.ann, service+".it", 1, sabir.ToNode(node))
			if err != nil || out != service+" on "+node {
				t.Errorf("to %s: %s, %v", node, out, err)
			}
			if out, err = it(brief(t), 1, sabir.ToNode(node)); err != nil || out != service+" on "+node {
				t.Errorf("bound, to %s: %s, %v", node, out, err)
			}
		}
	}
}

func toUnknownNode(t *testing.T, s *suite) {
	w := s.threeNodes
	service := hosts(t, w)
	_, err := sabir.Call[string](brief(t), w.ann, service+".it", 1, sabir.ToNode("dan"))
	if e := sabir.AsError(err); !errors.Is(err, sabir.ErrServiceUnavailable) || !e.Retryable || !contains(e.Message, "dan", service+".it") {
		t.Errorf("got %+v", e)
	}
}

func toNodeWithout(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, greet)
	_, err := sabir.Call[reply](brief(t), w.ann, action, greeting{"Ada"}, sabir.ToNode("cid"))
	if e := sabir.AsError(err); !errors.Is(err, sabir.ErrActionNotFound) || e.Node != "cid" || !contains(e.Message, "cid", action) {
		t.Errorf("got %+v", e)
	}
}

func toNodeShortName(t *testing.T, s *suite) {
	w := s.threeNodes
	service := name()
	w.serve(t, w.bob, reportingService(service, sabir.Version(1)))
	w.serve(t, w.bob, reportingService(service, sabir.Version(2)))
	w.serve(t, w.cid, reportingService(service, sabir.Version(3)))
	for node, want := range map[string]string{"bob": "v2." + service + " on bob", "cid": "v3." + service + " on cid"} {
		out, err := sabir.Call[string](brief(t), w.ann, service+".it", 1, sabir.ToNode(node))
		if err != nil || out != want {
			t.Errorf("to %s: %s, %v", node, out, err)
		}
	}
	out, err := sabir.Call[string](brief(t), w.ann, "v1."+service+".it", 1, sabir.ToNode("bob"))
	if err != nil || out != "v1."+service+" on bob" {
		t.Errorf("with a version: %s, %v", out, err)
	}
}

func toNodeIdempotent(t *testing.T, s *suite) {
	c := s.faultyCluster(t)
	near := c.start("near")
	far := c.start("far", sabir.Serve(hanging("svc", nil, sabir.Idempotent())))
	must(t, near.WaitFor(brief(t), "svc"))
	failed := make(chan error, 1)
	go func() {
		_, err := sabir.Call[int](context.Background(), near, "svc.hang", 1, sabir.ToNode(far.ID()))
		failed <- err
	}()
	eventually(t, "the call is being handled", func() bool { return far.Info().Load.InFlight > 0 })
	c.kill(far)
	if err := get(t, "the error", failed); !errors.Is(err, sabir.ErrLinkLost) || !sabir.AsError(err).Retryable {
		t.Errorf("got %+v", sabir.AsError(err))
	}
}

func privateActions(t *testing.T, s *suite) {
	w := s.threeNodes
	service := sabir.NewService(name())
	sabir.Handle(service, "public", greet)
	sabir.Handle(service, "secret", greet, sabir.NodeOnly())
	w.serve(t, w.bob, service)
	secret := service.Name() + ".secret"
	if out, err := sabir.Call[reply](brief(t), w.bob, secret, greeting{"Ada"}); err != nil || out.Node != "bob" {
		t.Errorf("on its own node: %+v, %v", out, err)
	}
	for name, options := range map[string][]sabir.CallOption{"by name": nil, "to its node": {sabir.ToNode("bob")}} {
		for _, action := range []string{secret, secret + "s"} {
			_, err := sabir.Call[reply](brief(t), w.ann, action, greeting{"Ada"}, options...)
			near, _ := sabir.DataAs[map[string][]string](err)
			if !errors.Is(err, sabir.ErrActionNotFound) || slices.Contains(near["nearest"], secret) {
				t.Errorf("%s %s: %v", action, name, err)
			}
		}
	}
	if a := w.ann.Action(secret); a != nil {
		t.Errorf("ann lists %+v", a)
	}
	for _, info := range w.ann.Services() {
		if slices.Contains(info.Actions, secret) {
			t.Errorf("ann lists it in %+v", info)
		}
	}
}

func clusterActions(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, greet, sabir.ClusterOnly())
	if out, err := sabir.Call[reply](brief(t), w.ann, action, greeting{"Ada"}); err != nil || out.Node != "bob" {
		t.Errorf("got %+v, %v", out, err)
	}
	if a := w.ann.Action(action); a == nil || !a.ClusterOnly || !a.Remote {
		t.Errorf("listed as %+v", a)
	}
}

func highestVersion(t *testing.T, s *suite) {
	w := s.threeNodes
	service := name()
	w.serve(t, w.ann, reportingService(service, sabir.Version(1)))
	w.serve(t, w.bob, reportingService(service, sabir.Version(3)))
	w.serve(t, w.cid, reportingService(service, sabir.Version(2)))
	for _, from := range w.nodes() {
		if out, err := sabir.Call[string](brief(t), from, service+".it", 1); err != nil || out != "v3."+service+" on bob" {
			t.Errorf("from %s: %s, %v", from.ID(), out, err)
		}
	}
	if out, err := sabir.Call[string](brief(t), w.bob, "v1."+service+".it", 1); err != nil || out != "v1."+service+" on ann" {
		t.Errorf("by version: %s, %v", out, err)
	}
}

func preferredVersion(t *testing.T, s *suite) {
	w := s.threeNodes
	service := name()
	w.serve(t, w.bob, reportingService(service, sabir.Version(3)))
	w.serve(t, w.cid, reportingService(service, sabir.Version(2), sabir.Preferred()))
	for _, from := range w.nodes() {
		if out, err := sabir.Call[string](brief(t), from, service+".it", 1); err != nil || out != "v2."+service+" on cid" {
			t.Errorf("from %s: %s, %v", from.ID(), out, err)
		}
	}
}

func unversioned(t *testing.T, s *suite) {
	w := s.threeNodes
	service := name()
	w.serve(t, w.bob, reportingService(service))
	w.serve(t, w.cid, reportingService(service, sabir.Version(2), sabir.Preferred()))
	for _, from := range w.nodes() {
		if out, err := sabir.Call[string](brief(t), from, service+".it", 1); err != nil || out != service+" on bob" {
			t.Errorf("from %s: %s, %v", from.ID(), out, err)
		}
	}
}

func addedAndRemoved(t *testing.T, s *suite) {
	w := s.threeNodes
	service := reportingService(name())
	call := func() (string, error) { return sabir.Call[string](brief(t), w.ann, service.Name()+".it", 1) }
	if _, err := call(); !errors.Is(err, sabir.ErrActionNotFound) {
		t.Errorf("before: %v", err)
	}
	must(t, w.bob.Add(brief(t), service))
	must(t, w.ann.WaitFor(brief(t), service.Name()))
	if out, err := call(); err != nil || out != service.Name()+" on bob" {
		t.Errorf("added: %s, %v", out, err)
	}
	must(t, w.bob.Remove(brief(t), service))
	eventually(t, "ann knows that it has gone", func() bool { return w.ann.Action(service.Name()+".it") == nil })
	if _, err := call(); !errors.Is(err, sabir.ErrActionNotFound) {
		t.Errorf("removed: %v", err)
	}
}

func removedHere(t *testing.T, s *suite) {
	w := s.threeNodes
	service := name()
	own := reportingService(service)
	must(t, w.ann.Add(brief(t), own))
	w.serve(t, w.bob, reportingService(service))
	if out, err := sabir.Call[string](brief(t), w.ann, service+".it", 1); err != nil || out != service+" on ann" {
		t.Errorf("with its own: %s, %v", out, err)
	}
	must(t, w.ann.Remove(brief(t), own))
	if out, err := sabir.Call[string](brief(t), w.ann, service+".it", 1); err != nil || out != service+" on bob" {
		t.Errorf("without: %s, %v", out, err)
	}
}

func sameListing(t *testing.T, s *suite) {
	w := s.threeNodes
	service := hosts(t, w, sabir.Version(2), sabir.Doc("tells where it is"))
	var first []string
	for _, n := range w.nodes() {
		var list []string
		for _, info := range n.Services() {
			if info.Name == "v2."+service {
				list = append(list, fmt.Sprint(info.Name, info.Version, info.Description, info.Node, info.Actions))
			}
		}
		if first == nil {
			first = list
		}
		if len(list) != 2 || !slices.Equal(list, first) {
			t.Errorf("%s lists %v, ann %v", n.ID(), list, first)
		}
	}
}

func nodeListing(t *testing.T, s *suite) {
	c := s.cluster(t)
	c.join("a", []cluster.Option{cluster.Config{Zone: "east", Labels: map[string]string{"disk": "ssd"}}}, sabir.Serve(reportingService("svc")))
	b := c.start("b")
	var a introspect.Node
	eventually(t, "b has measured the round trip to a", func() bool {
		for _, info := range b.Nodes() {
			if info.ID == "a" && info.RTT > 0 && info.Services > 0 {
				a = info
			}
		}
		return a.ID != ""
	})
	if nodes := b.Nodes(); len(nodes) != 2 || nodes[0].ID != "b" {
		t.Errorf("b lists %+v", nodes)
	}
	at := c.meet
	if s.Broker {
		at = c.nodes[0].Info().Addr
	}
	if a.Zone != "east" || !maps.Equal(a.Labels, map[string]string{"disk": "ssd"}) || a.Addr != at || a.State != "running" || a.ClientOnly ||
		a.PID == 0 || a.Host == "" || a.Since.IsZero() || a.Services != 1 || a.Actions != 1 || a.RTT > waitLimit {
		t.Errorf("b lists a as %+v", a)
	}
}

func actionListing(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, greet, sabir.Doc("greets"), sabir.Inline(), sabir.Idempotent())
	list, err := sabir.Call[[]introspect.Action](brief(t), w.bob, "$node.actions", sabir.Empty{}, sabir.ToNode("ann"))
	must(t, err)
	at := slices.IndexFunc(list, func(a introspect.Action) bool { return a.Name == action })
	if at < 0 {
		t.Fatalf("ann does not list %s", action)
	}
	if a := list[at]; a.Description != "greets" || !a.Inline || a.Stream || a.In != "conformance.greeting" || a.Out != "conformance.reply" ||
		!slices.Equal(a.Nodes, []string{"bob"}) {
		t.Errorf("listed as %+v", a)
	}
}

func nodeService(t *testing.T, s *suite) {
	w := s.threeNodes
	for _, node := range []string{"ann", "bob", "cid"} {
		info, err := sabir.Call[introspect.Node](brief(t), w.ann, "$node.info", sabir.Empty{}, sabir.ToNode(node))
		if err != nil || info.ID != node {
			t.Errorf("%s: %+v, %v", node, info, err)
		}
	}
	if info, err := sabir.Call[introspect.Node](brief(t), w.ann, "$node.info", sabir.Empty{}); err != nil || info.ID != "ann" {
		t.Errorf("without a node: %+v, %v", info, err)
	}
}

func needs(t *testing.T, s *suite) {
	w := s.threeNodes
	wanted := name()
	outer := sabir.NewService(name(), sabir.DependsOn(sabir.ServiceName(wanted)))
	sabir.Handle(outer, "it", func(ctx context.Context, in int) (string, error) {
		return sabir.Call[string](ctx, outer, wanted+".it", in)
	})
	added := make(chan error, 1)
	go func() { added <- w.cid.Add(brief(t), outer) }()
	w.serve(t, w.bob, reportingService(wanted))
	must(t, get(t, "the start of the service", added))
	t.Cleanup(func() { _ = w.cid.Remove(context.Background(), outer) })
	if out, err := sabir.Call[string](brief(t), w.cid, outer.Name()+".it", 1); err != nil || out != wanted+" on bob" {
		t.Errorf("got %s, %v", out, err)
	}
}
