package integration

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/secret"
)

type guardedProcess struct{}

func (*guardedProcess) Init(*actor.Process, string) error { return nil }

var guardedBehavior = actor.Define("guarded", (*guardedProcess).Init)

// processNode is a node with processes and a certificate of the name.
func processNode(t *testing.T, ca *authority, id, name string, log *auditLog, config actor.Config, options ...cluster.Option) (*actor.System, *sabir.Node) {
	t.Helper()
	config.Logger = slog.New(slog.NewTextHandler(log, nil))
	system := actor.NewSystem(config)
	options = append(options, cluster.Config{TLS: ca.config(t, name, "")})
	return system, startAllowed(t, sabir.NewNode(sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)), system.Option(), sabir.Join("tls://127.0.0.1:0", options...)))
}

// awaitHolds waits until the condition holds.
func awaitHolds(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what + " did not come")
		}
	}
}

// spawnsAt starts a process on another node, once the two nodes know each other.
func spawnsAt(system *actor.System, node string) error {
	_, err := actor.Spawn(system, guardedBehavior, "", actor.SpawnConfig{Node: node})
	return err
}

// The id that a node gives itself counts where links prove no names only.
func TestProcessesAreStartedForTheCertificatesThatWereNamed(t *testing.T) {
	ca, log := newAuthority(t), &auditLog{}
	vault, node := processNode(t, ca, "vault", "vault", log, actor.Config{})
	guardedBehavior.AllowRemoteSpawn(vault, "orders-*")
	for _, test := range []struct {
		id, name string
		want     error
	}{{"a", "orders-1", nil}, {"orders-2", "mallory", actor.ErrNotPermitted}} {
		system, _ := processNode(t, ca, test.id, test.name, &auditLog{}, actor.Config{}, cluster.Config{Seeds: []string{node.Info().Addr}})
		var err error
		awaitHolds(t, "the answer for "+test.name, func() bool {
			err = spawnsAt(system, "vault")
			return !errors.Is(err, actor.ErrNoConnection)
		})
		if !errors.Is(err, test.want) {
			t.Errorf("%s starts a process: %v, want %v", test.name, err, test.want)
		}
		verdict := map[bool]string{true: "verdict=allowed", false: "verdict=refused"}[test.want == nil]
		if !log.has("msg=audit", "node="+test.id, test.name, `action="spawn guarded"`, verdict) {
			t.Errorf("%s: the audit does not say so", test.name)
		}
	}
}

// Over https:// links show no names, and what a node calls itself must not take their place.
func TestNoNodeThatIsNamedStartsProcessesWhereLinksShowNoNames(t *testing.T) {
	ca, log := newAuthority(t), &auditLog{}
	start := func(id string, log *auditLog, options ...cluster.Option) (*actor.System, *sabir.Node) {
		system := actor.NewSystem(actor.Config{Logger: slog.New(slog.NewTextHandler(log, nil))})
		options = append(options, cluster.Config{TLS: ca.config(t, id, ""), Key: secret.New(clusterKey)})
		return system, startAllowed(t, sabir.NewNode(sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)), system.Option(), sabir.Join("https://127.0.0.1:0", options...)))
	}
	vault, node := start("vault", log)
	guardedBehavior.AllowRemoteSpawn(vault, "orders-1")
	orders, _ := start("orders-1", &auditLog{}, cluster.Config{Seeds: []string{node.Info().Addr}})
	var err error
	awaitHolds(t, "the answer", func() bool {
		err = spawnsAt(orders, "vault")
		return !errors.Is(err, actor.ErrNoConnection)
	})
	if !errors.Is(err, actor.ErrNotPermitted) || !log.has("msg=audit", "node=orders-1", "verdict=refused") {
		t.Errorf("a node that calls itself orders-1 starts a process: %v", err)
	}
}

func TestProcessesAreReachedByTheNodesThatWereNamedOnly(t *testing.T) {
	ca, log := newAuthority(t), &auditLog{}
	vault, node := processNode(t, ca, "vault", "vault", log, actor.Config{Nodes: []string{"orders-*"}})
	guardedBehavior.AllowRemoteSpawn(vault)
	seeds := cluster.Config{Seeds: []string{node.Info().Addr}}

	// Ids on both sides of "vault" in the alphabet: the node whose id sorts first begins the session.
	for _, id := range []string{"a", "z"} {
		stranger, strangerNode := processNode(t, ca, id, "mallory-"+id, &auditLog{}, actor.Config{}, seeds)
		guardedBehavior.AllowRemoteSpawn(stranger)
		awaitHolds(t, "the verdict on "+id, func() bool {
			return log.has("msg=audit", "node="+id, "mallory-"+id, "action=processes", "verdict=refused")
		})
		awaitHolds(t, "the link", func() bool { return len(strangerNode.Nodes()) > 1 })
		if err := spawnsAt(stranger, "vault"); !errors.Is(err, actor.ErrNoConnection) {
			t.Errorf("%s reaches the vault: %v", id, err)
		}
		if err := spawnsAt(vault, id); !errors.Is(err, actor.ErrNoConnection) {
			t.Errorf("the vault reaches %s: %v", id, err)
		}
	}

	orders, _ := processNode(t, ca, "b", "orders-1", &auditLog{}, actor.Config{}, seeds)
	awaitHolds(t, "a process for orders-1", func() bool { return spawnsAt(orders, "vault") == nil })
	if !log.has("msg=audit", "node=b", "orders-1", "action=processes", "verdict=allowed") {
		t.Error("the audit does not say that orders-1 was allowed")
	}
}

func TestProcessesGoByTheKeysOfNodes(t *testing.T) {
	start := func(id, key, seed string, log *auditLog, config actor.Config) (*actor.System, *sabir.Node) {
		config.Logger = slog.New(slog.NewTextHandler(log, nil))
		system := actor.NewSystem(config)
		options := []cluster.Option{cluster.Config{Key: secret.New(clusterKey), NodeKey: secret.New(key)}, nodeKeys(t)}
		if seed != "" {
			options = append(options, cluster.Config{Seeds: []string{seed}})
		}
		return system, startAllowed(t, sabir.NewNode(sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)), system.Option(), sabir.Join("tcp://127.0.0.1:0", options...)))
	}
	log := &auditLog{}
	vault, node := start("vault", vaultKey, "", log, actor.Config{Nodes: []string{"orders-*", "billing-*"}})
	guardedBehavior.AllowRemoteSpawn(vault, "orders-*")
	for id, test := range map[string]struct {
		key  string
		want error
	}{"orders-1": {ordersKey, nil}, "billing-1": {billingKey, actor.ErrNotPermitted}} {
		system, _ := start(id, test.key, node.Info().Addr, &auditLog{}, actor.Config{})
		var err error
		awaitHolds(t, "the answer for "+id, func() bool {
			err = spawnsAt(system, "vault")
			return !errors.Is(err, actor.ErrNoConnection)
		})
		if !errors.Is(err, test.want) {
			t.Errorf("%s starts a process: %v, want %v", id, err, test.want)
		}
		if !log.has("msg=audit", "node="+id, "names=["+id+"]", "action=processes", "verdict=allowed") {
			t.Errorf("%s: the audit does not say so", id)
		}
	}
}

func TestProcessesForNamedNodesNeedCertificates(t *testing.T) {
	for pattern, want := range map[string]string{"orders-*": "cluster.Config.TLS", "[": "takes no name"} {
		system := actor.NewSystem(actor.Config{Nodes: []string{pattern}})
		n := sabir.NewNode(sabir.Logger(slog.New(slog.DiscardHandler)), system.Option(), sabir.Join("tcp://127.0.0.1:0"))
		if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}
