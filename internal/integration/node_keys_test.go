package integration

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/web/auth"
)

const (
	clusterKey = "the key that all nodes of the cluster have"
	vaultKey   = "the private key of the nodes called vault"
	ordersKey  = "the private key of the nodes called orders-*"
	billingKey = "the private key of the nodes called billing-*"
)

// nodeKeys are the public keys of the groups of nodes.
func nodeKeys(t *testing.T) cluster.Option {
	t.Helper()
	public := func(text string) string {
		key, err := identity.NewKey(text)
		if err != nil {
			t.Fatal(err)
		}
		return key.Public()
	}
	return cluster.Config{NodeKeys: map[string]string{"vault": public(vaultKey), "orders-*": public(ordersKey), "billing-*": public(billingKey)}}
}

// vaultOf is a node whose service only nodes called orders-* may call.
func vaultOf(t *testing.T, address string, log *auditLog, options ...cluster.Option) *sabir.Node {
	t.Helper()
	vault := sabir.NewService("vault", sabir.Allow{Nodes: []string{"orders-*"}, Audited: true})
	sabir.Handle(vault, "open", func(ctx context.Context, _ sabir.Empty) (string, error) {
		who, _ := auth.FromContext(ctx)
		return who.Subject, nil
	})
	options = append(options, cluster.Config{Name: t.Name(), Key: secret.New(clusterKey), NodeKey: secret.New(vaultKey)}, nodeKeys(t))
	return startAllowed(t, sabir.NewNode(sabir.NodeID("vault"), sabir.Logger(slog.New(slog.NewTextHandler(log, nil))), sabir.Serve(vault), sabir.Join(address, options...)))
}

// group is a node that is not started yet, with the cluster key and the options.
func group(t *testing.T, address, seed, id string, options ...cluster.Option) *sabir.Node {
	options = append(options, cluster.Config{Name: t.Name(), Key: secret.New(clusterKey)})
	if seed != "" {
		options = append(options, cluster.Config{Seeds: []string{seed}})
	}
	return sabir.NewNode(sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Join(address, options...))
}

func TestRulesGoByTheKeysOfNodes(t *testing.T) {
	for _, of := range []struct{ name, address string }{{"tcp", "tcp://127.0.0.1:0"}, {"nats", ""}} {
		t.Run(of.name, func(t *testing.T) {
			address, log := of.address, &auditLog{}
			if address == "" {
				address = brokers.ForTestShared(t, brokers.NATS).URL()
			}
			vault, seed := vaultOf(t, address, log), ""
			if of.address != "" {
				seed = vault.Info().Addr
			}
			for _, test := range []struct {
				id, key string
				may     bool
			}{{"orders-1", ordersKey, true}, {"billing-1", billingKey, false}} {
				n := startAllowed(t, group(t, address, seed, test.id, cluster.Config{NodeKey: secret.New(test.key)}, nodeKeys(t)))
				if err := n.WaitFor(t.Context(), "vault"); err != nil {
					t.Fatal(err)
				}
				_, err := sabir.Call[string](t.Context(), n, "vault.open", sabir.Empty{})
				if (err == nil) != test.may || err != nil && !errors.Is(err, sabir.ErrCallerRefused) {
					t.Errorf("%s calls: %v", test.id, err)
				}
				verdict := map[bool]string{true: "verdict=allowed", false: "verdict=refused"}[test.may]
				if !log.has("msg=audit", "node="+test.id, "names=["+test.id+"]", "action=vault.open", verdict) {
					t.Errorf("%s calls: the audit does not say so", test.id)
				}
			}
		})
	}
}

func TestANodeCannotTakeAnIDWhoseKeyItHasNot(t *testing.T) {
	for _, of := range []struct{ name, address string }{{"tcp", "tcp://127.0.0.1:0"}, {"nats", ""}} {
		t.Run(of.name, func(t *testing.T) {
			address := of.address
			if address == "" {
				address = brokers.ForTestShared(t, brokers.NATS).URL()
			}
			log := &auditLog{}
			vault, seed := vaultOf(t, address, log), ""
			if of.address != "" {
				seed = vault.Info().Addr
			}
			for about, forger := range map[string]*sabir.Node{
				"the key of another group": group(t, address, seed, "orders-7", cluster.Config{NodeKey: secret.New(billingKey)}),
				"no node key":              group(t, address, seed, "orders-8"),
			} {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				err := forger.Start(ctx)
				if err == nil {
					_, err = sabir.Call[string](ctx, forger, "vault.open", sabir.Empty{})
					forger.Stop(context.Background())
				} else if !strings.Contains(err.Error(), "node id not proven") {
					t.Errorf("%s: the start fails without the reason: %v", about, err)
				}
				cancel()
				if err == nil {
					t.Errorf("%s: it calls what is for orders-* only", about)
				}
			}
			if n := len(vault.Nodes()); n != 1 {
				t.Errorf("the vault sees %d nodes", n)
			}
			if log.has("verdict=allowed") {
				t.Error("the audit has a verdict for a forger")
			}
		})
	}
}

// A node that was taken over offers what another one does, and listens in the other's name.
func TestAServiceIsTakenFromTheNodesThatWereNamed(t *testing.T) {
	const address = "tcp://127.0.0.1:0"
	came := make(chan string, 100)
	serve := func(id, key, seed string, names ...string) *sabir.Node {
		var services []sabir.Servable
		for _, name := range names {
			s := sabir.NewService(name)
			sabir.Handle(s, "who", func(context.Context, sabir.Empty) (string, error) { return id, nil })
			sabir.On(s, "vault.note", func(context.Context, string) error { came <- id; return nil }, sabir.Delivery{Group: "vault"})
			services = append(services, s)
		}
		options := []cluster.Option{cluster.Config{Name: t.Name(), Key: secret.New(clusterKey), NodeKey: secret.New(key)}, nodeKeys(t)}
		if seed != "" {
			options = append(options, cluster.Config{Seeds: []string{seed}})
		}
		return startAllowed(t, sabir.NewNode(sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(services...), sabir.Join(address, options...)))
	}
	vault := serve("vault", vaultKey, "", "vault")
	serve("billing-1", billingKey, vault.Info().Addr, "vault", "thief", "other")
	for _, rule := range []cluster.Option{nil, cluster.Config{OfferedBy: map[string][]string{"vault": {"vault"}}}} {
		log := &auditLog{}
		options := []cluster.Option{cluster.Config{Name: t.Name(), Key: secret.New(clusterKey), NodeKey: secret.New(ordersKey)}, nodeKeys(t), cluster.Config{Seeds: []string{vault.Info().Addr}}}
		if rule != nil {
			options = append(options, rule)
		}
		caller := startAllowed(t, sabir.NewNode(sabir.NodeID("orders-1"), sabir.Logger(slog.New(slog.NewTextHandler(log, nil))), sabir.Join(address, options...)))
		if rule == nil {
			awaitHolds(t, "the forger's service", func() bool {
				who, err := sabir.Call[string](t.Context(), caller, "vault.who", sabir.Empty{})
				return err == nil && who == "billing-1"
			})
			caller.Stop(context.Background())
			continue
		}
		awaitHolds(t, "the line of the log", func() bool { return log.has("cluster.Config.OfferedBy", "peer=billing-1", "vault", "thief", "other") })
		if err := caller.WaitFor(t.Context(), "vault"); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			if who, err := sabir.Call[string](t.Context(), caller, "vault.who", sabir.Empty{}); err != nil || who != "vault" {
				t.Fatalf("%s answers, %v", who, err)
			}
			if err := sabir.Emit(t.Context(), caller, "vault.note", ""); err != nil {
				t.Fatal(err)
			}
			if who := <-came; who != "vault" {
				t.Fatalf("%s got the event", who)
			}
		}
	}
}

func TestANodeDoesNotStartWithAKeyForOtherIDs(t *testing.T) {
	for about, test := range map[string]struct {
		options []cluster.Option
		says    string
	}{
		"the key of another group": {[]cluster.Option{cluster.Config{NodeKey: secret.New(billingKey)}, nodeKeys(t)}, `this node is called "orders-1", and its key is for nodes called ["billing-*"]`},
		"no key":                   {[]cluster.Option{nodeKeys(t)}, "needs a cluster.Config.NodeKey of its own"},
		"a short key":              {[]cluster.Option{cluster.Config{NodeKey: secret.New("short")}}, "cluster.Config.NodeKey: a node's key has 5 bytes"},
		"a file that is not there": {[]cluster.Option{cluster.Config{NodeKeyFile: "/nowhere/key"}}, "cluster.Config.NodeKeyFile: open /nowhere/key"},
		"no public keys":           {[]cluster.Option{cluster.Config{NodeKey: secret.New(ordersKey), NodeKeys: map[string]string{}}}, "cluster.Config.NodeKeys: there is no public key"},
		"a public key that is none": {[]cluster.Option{cluster.Config{NodeKey: secret.New(ordersKey), NodeKeys: map[string]string{"orders-*": "abc"}}},
			`cluster.Config.NodeKeys: the pattern "orders-*" has "abc", which is no public key`},
		"services of nobody":     {[]cluster.Option{cluster.Config{NodeKey: secret.New(ordersKey)}, nodeKeys(t), cluster.Config{OfferedBy: map[string][]string{"vault": {}}}}, `cluster.Config.OfferedBy names no nodes for "vault"`},
		"services by no names":   {[]cluster.Option{cluster.Config{OfferedBy: map[string][]string{"vault": {"vault"}}}}, "cluster.Config.OfferedBy needs nodes that prove their names"},
		"a pattern that is none": {[]cluster.Option{cluster.Config{NodeKey: secret.New(ordersKey), NodeKeys: map[string]string{"[": "abc"}}}, `the pattern "[" takes no id`},
	} {
		n := group(t, "tcp://127.0.0.1:0", "", "orders-1", test.options...)
		if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "private") {
			n.Stop(context.Background())
			t.Errorf("%s: %v", about, err)
		}
	}
}

func TestPrincipalsAreTakenFromNodesThatVouchByTheirKeys(t *testing.T) {
	for about, test := range map[string]struct {
		options []cluster.Option
		want    string
	}{
		"nobody was named":      {nil, ""},
		"the node was named":    {[]cluster.Option{cluster.Config{Vouchers: []string{"orders-*"}}}, "ada"},
		"another one was named": {[]cluster.Option{cluster.Config{Vouchers: []string{"gateway-*"}}}, ""},
	} {
		vault := vaultOf(t, "tcp://127.0.0.1:0", &auditLog{}, test.options...)
		n := startAllowed(t, group(t, "tcp://127.0.0.1:0", vault.Info().Addr, "orders-1", cluster.Config{NodeKey: secret.New(ordersKey)}, nodeKeys(t)))
		if err := n.WaitFor(t.Context(), "vault"); err != nil {
			t.Fatal(err)
		}
		got, err := sabir.Call[string](auth.As(t.Context(), auth.Principal{Subject: "ada"}), n, "vault.open", sabir.Empty{})
		if err != nil || got != test.want {
			t.Errorf("%s: %q, %v", about, got, err)
		}
	}
}
