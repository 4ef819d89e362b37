package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/introspect"
)

const clusterKey = "0123456789-cluster-key"

// freePort is an address without a listener.
func freePort(t testing.TB) string {
	t.Helper()
	address, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	return "tcp://" + address
}

// startCluster runs the demo's cluster of three nodes for the length of a test and makes it the one that commands join.
func startCluster(t testing.TB, c *cli) string {
	t.Helper()
	nodes := &sameProcess{cli: c, address: freePort(t), log: io.Discard}
	if _, err := nodes.start(t.Context(), []string{"demo-1", "demo-2", "demo-3"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := nodes.stop(ctx); err != nil {
			t.Error(err)
		}
	})
	t.(interface{ Setenv(key, value string) }).Setenv("SABIR_JOIN", nodes.address)
	return nodes.address
}

// startMember runs a node of a cluster for the length of a test.
func startMember(t testing.TB, id, address string, services ...sabir.Servable) *sabir.Node {
	t.Helper()
	node := sabir.NewNode(sabir.NodeID(id), quiet(), sabir.Join(address), sabir.Serve(services...))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := node.Stop(ctx); err != nil && node.State() != "stopped" { // a test may have stopped it
			t.Error(err)
		}
	})
	return node
}

func TestListsOfACluster(t *testing.T) {
	startCluster(t, &cli{})
	for name, test := range map[string]struct {
		args []string
		want []string
		not  string
	}{
		"nodes":     {[]string{"nodes"}, []string{"NODE ", "ZONE", "RTT", "demo-1  running", "mail, orders, users", " µs"}, "cli-"},
		"services":  {[]string{"services"}, []string{"users     demo-2, demo-3", "order.created, order.rejected"}, "$node"},
		"actions":   {[]string{"actions", "users"}, []string{"users.get ", "demo-2, demo-3", "shop.GetUser"}, "orders.create"},
		"all":       {[]string{"actions", "--all"}, []string{"$node.info", everyNode, "$telemetry.stats", "$channels.list", "demo-1, demo-2, demo-3"}, "cli-"},
		"all of it": {[]string{"services", "--all"}, []string{"$node ", everyNode, "$telemetry  demo-1, demo-2, demo-3", "users  "}, "cli-"},
		"no action": {[]string{"actions", "nothing"}, []string{"no action is called like that"}, "ACTION"},
	} {
		t.Run(name, func(t *testing.T) {
			got := sabirRun(t, test.args...)
			if got.code != exitOK || got.errOut != "" || strings.Contains(got.out, test.not) {
				t.Errorf("%+v, want no %q", got, test.not)
			}
			for _, want := range test.want {
				if name == "services" {
					want = strings.Join(strings.Fields(want), " ")
					got.out = strings.ReplaceAll(strings.Join(strings.Fields(got.out), " "), "\n", " ")
				}
				if !strings.Contains(got.out, want) {
					t.Errorf("%q is not in:\n%s", want, got.out)
				}
			}
			oneJSON[[]map[string]any](t, sabirRun(t, append(test.args, "--json")...).out)
		})
	}
	nodes := oneJSON[[]surveyed](t, sabirRun(t, "nodes", "--json").out)
	for _, n := range nodes {
		if n.RTT <= 0 || n.PID != os.Getpid() || !strings.HasPrefix(n.Addr, "tcp://127.0.0.1:") || len(n.Offers) < 2 || n.Load.InFlight != 0 {
			t.Errorf("%+v", n)
		}
	}
	if len(nodes) != 3 {
		t.Errorf("%d nodes, want 3", len(nodes))
	}
}

// foreignNode is a node of another framework, which nothing is asked here.
type foreignNode struct{ sabir.ForeignNode }

func (foreignNode) Name() string { return "js-1" }

func TestANodeOfAnotherFrameworkIsAsTheNodeWithTheBridgeKnowsIt(t *testing.T) {
	address := freePort(t)
	startMember(t, "a", address)
	bridging := startMember(t, "b", address)
	offer := sabir.ForeignOffer{Node: introspect.Node{Framework: "moleculer 0.15.2"}}
	if err := bridging.SetForeign(foreignNode{}, offer); err != nil {
		t.Fatal(err)
	}
	defer bridging.DropForeign(foreignNode{})
	run := sabirRun(t, "nodes", "--json", "--join", address)
	nodes := oneJSON[[]surveyed](t, run.out)
	at := slices.IndexFunc(nodes, func(s surveyed) bool { return s.ID == "js-1" })
	if len(nodes) != 3 || at < 0 || nodes[at].Framework != offer.Node.Framework || nodes[at].State != "running" {
		t.Errorf("%+v", nodes)
	}
}

func TestCallsGoToAnyNodeOrToTheNamedOne(t *testing.T) {
	startCluster(t, &cli{})
	if got := sabirRun(t, "call", "users.get", "id=u-1", "--json"); got.code != exitOK || !strings.Contains(got.out, "Ada Marino") {
		t.Errorf("%+v", got)
	}
	for _, node := range []string{"demo-1", "demo-2", "demo-3"} {
		got := sabirRun(t, "call", "$node.info", "--to", node, "--json")
		if info := oneJSON[introspect.Node](t, got.out); info.ID != node {
			t.Errorf("--to %s was answered by %s", node, info.ID)
		}
	}
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"an action that the node has not":   {[]string{"call", "users.get", "id=u-1", "--to", "demo-1"}, "ActionNotFound (NotFound) on node demo-1"},
		"a node that is not there":          {[]string{"call", "users.get", "--to", "demo-9"}, "no link to a node of that name"},
		"what to do about that":             {[]string{"call", "users.get", "--to", "nobody"}, `"sabir nodes" lists the nodes that are there`},
		"an action that no node has":        {[]string{"call", "user.get"}, "did you mean users.get"},
		"a rule of the action":              {[]string{"call", "orders.create", badOrder}, "  lines[0].quantity:  quantity must be 1 or greater  (rule gte=1, given 0)\n"},
		"an error of the service":           {[]string{"call", "users.get", "id=u-99"}, "UserNotFound (NotFound) on node demo-"},
		"a stream that is called":           {[]string{"call", "orders.watch"}, "stream"},
		"an action that is opened":          {[]string{"call", "users.get", "--stream"}, "is not a stream"},
		"a stream that is not there at all": {[]string{"call", "orders.look", "--stream"}, "no action is called orders.look"},
	} {
		got := sabirRun(t, test.args...)
		if got.code != exitFailed || !strings.Contains(got.errOut, test.want) || strings.Contains(got.errOut, "cli-") || got.out != "" {
			t.Errorf("%s: %+v, want %q", name, got, test.want)
		}
	}
}

func TestAStreamSendsLinesAndPrintsLines(t *testing.T) {
	address := freePort(t)
	doubler := sabir.NewService("doubler")
	type value struct{ N int }
	sabir.HandleStream(doubler, "twice", func(_ context.Context, s *sabir.Stream[value, value]) error {
		for in, err := range s.All() {
			if err != nil {
				return err
			}
			if err := s.Send(value{2 * in.N}); err != nil {
				return err
			}
		}
		return nil
	})
	startMember(t, "a", address, doubler)
	twice := []string{"call", "doubler.twice", "--stream", "--join", address}
	if got := sabirRunWith(t, strings.NewReader("{\"N\":1}\n\n {\"N\": 21}\n"), append(twice, "-")...); got != (outcome{out: "{\"N\":2}\n{\"N\":42}\n"}) {
		t.Errorf("two lines: %+v", got)
	}
	if got := sabirRun(t, append(twice, "N:=4")...); got != (outcome{out: "{\"N\":8}\n"}) {
		t.Errorf("one argument: %+v", got)
	}
	got := sabirRunWith(t, strings.NewReader("{\"N\":1}\nnot JSON\n"), append(twice, "-")...)
	if got.code != exitUsage || !strings.Contains(got.errOut, "line 2 of stdin is not JSON") {
		t.Errorf("a bad line: %+v", got)
	}
	got = sabirRunWith(t, strings.NewReader(`{"N":"x"}`), append(twice, "-")...)
	if got.code != exitFailed || !strings.Contains(got.errOut, "/N") {
		t.Errorf("a value of another type: %+v", got)
	}
}

func TestAStreamThatIsInterruptedEndsWell(t *testing.T) {
	startCluster(t, &cli{})
	ctx, interrupt := context.WithCancel(t.Context())
	out := newFirstLine(func(string) { interrupt() })
	placing, stop := context.WithCancel(t.Context())
	defer stop()
	placed := make(chan struct{})
	go func() { // the watcher may come later than the first order
		defer close(placed)
		for placing.Err() == nil {
			sabirRun(t, "call", "orders.create", goodOrder, "--to", "demo-1")
		}
	}()
	code := execute(ctx, []string{"call", "orders.watch", "--stream", "--to", "demo-1"}, strings.NewReader(""), out, io.Discard)
	if code != exitOK || !out.done {
		t.Errorf("exit code %d, an order was seen: %v", code, out.done)
	}
	stop()
	<-placed
}

func TestEmitReachesAGroupOnceInTheClusterAndBroadcastEachNode(t *testing.T) {
	address := freePort(t)
	got := make(chan string, 10)
	for _, id := range []string{"a", "b"} {
		listener := sabir.NewService("listener")
		sabir.On(listener, "user.*", func(context.Context, map[string]any) error {
			got <- id
			return nil
		})
		startMember(t, id, address, listener)
	}
	if run := sabirRun(t, "emit", "user.changed", "id=u-1", "--join", address); run.code != exitOK || len(got) != 1 {
		t.Errorf("%+v: %d handlers ran, want 1", run, len(got))
	}
	if run := sabirRun(t, "emit", "user.changed", "--broadcast", "--join", address); run.code != exitOK || len(got) != 3 {
		t.Errorf("%+v: %d handlers ran, want 2 more", run, len(got))
	}
}

func TestAnEventThatNoServiceListensToIsNoted(t *testing.T) {
	address := freePort(t)
	listener := sabir.NewService("listener")
	sabir.On(listener, "user.changed", func(context.Context, any) error { return nil })
	startMember(t, "a", address, listener)
	got := sabirRun(t, "emit", "user.chagned", "--join", address)
	if got.code != exitOK || got.out != "emitted user.chagned\n" || got.errOut != "note: no service listens to user.chagned; did you mean user.changed?\n" {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "emit", "user.changed", "--join", address); got.errOut != "" {
		t.Errorf("%+v", got)
	}
}

func TestEmitTellsTheGroupsThatItNames(t *testing.T) {
	address, got := freePort(t), make(chan string, 10)
	for _, group := range []string{"mail", "stock"} {
		listener := sabir.NewService(group)
		sabir.On(listener, "user.changed", func(ctx context.Context, _ any) error {
			got <- group + strings.Join(sabir.InfoFromContext(ctx).Groups, ",")
			return nil
		})
		startMember(t, group, address, listener)
	}
	run := sabirRun(t, "emit", "user.changed", "id=u-1", "--group", "mail", "--join", address)
	if run.code != exitOK || strings.TrimSpace(run.out) != "emitted user.changed to mail" || len(got) != 1 || <-got != "mailmail" {
		t.Errorf("%+v: %d handlers ran, want that of mail", run, len(got))
	}
	if run := sabirRun(t, "emit", "user.changed", "--group", "mail", "--broadcast", "--join", address); run.code != exitUsage || len(got) != 0 {
		t.Errorf("%+v: %d handlers ran, want none", run, len(got))
	}
}

func TestWhyAClusterCouldNotBeJoined(t *testing.T) {
	web := "http://" + startDemo(t).HTTPAddr()
	t.Setenv("SABIR_URL", "")
	keyed := startCluster(t, &cli{key: clusterKey})
	t.Setenv("SABIR_JOIN", "")
	open := freePort(t)
	startMember(t, "a", open)
	for name, test := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"nobody listens":    {[]string{"nodes", "--join", "tcp://127.0.0.1:1"}, exitFailed, []string{"nobody listens at tcp://127.0.0.1:1", "sabir demo --nodes 3"}},
		"no broker":         {[]string{"nodes", "--join", "nats://u:the-password@127.0.0.1:1"}, exitFailed, []string{"no broker listens at nats://u:", "start the broker"}},
		"no port":           {[]string{"nodes", "--join", "foo"}, exitUsage, []string{"has no port"}},
		"no such port":      {[]string{"nodes", "--join", "tcp://127.0.0.1:99999"}, exitUsage, []string{"99999", "to 65535"}},
		"a slip":            {[]string{"nodes", "--join", open + "?sedes=a:1"}, exitUsage, []string{"is not tcp://host:port"}},
		"no action":         {[]string{"call", "users.git", "--join", open}, exitFailed, []string{"no action is called users.git", "nodes of the cluster"}},
		"no own action":     {[]string{"call", "$node.git", "--join", open}, exitFailed, []string{"no action is called $node.git"}},
		"key wanted":        {[]string{"nodes", "--join", keyed}, exitFailed, []string{"asks for a key", "SABIR_KEY"}},
		"wrong key":         {[]string{"nodes", "--join", keyed, "--key", "another-key-of-16-bytes"}, exitFailed, []string{"another key"}},
		"no key wanted":     {[]string{"nodes", "--join", open, "--key", clusterKey}, exitFailed, []string{"has no key", "unset SABIR_KEY"}},
		"short key":         {[]string{"nodes", "--join", open, "--key", "short-key"}, exitFailed, []string{"at least 16"}},
		"another cluster":   {[]string{"nodes", "--join", open, "--cluster", "other"}, exitFailed, []string{"in another cluster", "--cluster"}},
		"an HTTP address":   {[]string{"nodes", "--join", strings.TrimPrefix(web, "http://")}, exitFailed, []string{"does not speak Sabir's link protocol", "--url"}},
		"HTTP as a scheme":  {[]string{"nodes", "--join", web}, exitFailed, []string{"no node takes links at http://", "--url"}},
		"no TLS there":      {[]string{"nodes", "--join", strings.Replace(open, "tcp://", "tls://", 1)}, exitFailed, []string{"TLS handshake", "joins by tls:// too"}},
		"links over HTTP":   {[]string{"nodes", "--url", strings.Replace(open, "tcp://", "http://", 1)}, exitFailed, []string{"broke", "goes with --join"}},
		"no such transport": {[]string{"nodes", "--join", "morse://x"}, exitUsage, []string{"links do not go over morse://", "tcp"}},
		"both":              {[]string{"nodes", "--join", open, "--url", web}, exitUsage, []string{"give one of them"}},
		"no such file":      {[]string{"nodes", "--join", open, "--tls-ca", "/no/such/file"}, exitUsage, []string{"/no/such/file"}},
		"--to over HTTP":    {[]string{"call", "users.get", "--to", "a"}, exitUsage, []string{"--to needs a cluster"}},
		"stream over HTTP":  {[]string{"call", "users.get", "--stream"}, exitUsage, []string{"--stream needs a cluster"}},
		"retry over HTTP":   {[]string{"bench", "users.get", "--retry"}, exitUsage, []string{"needs a cluster"}},
		"too many for HTTP": {[]string{"bench", "users.get", "-c", "600"}, exitUsage, []string{"too many for HTTP"}},
		"too many":          {[]string{"bench", "users.get", "--callers", "1001", "--join", open}, exitUsage, []string{"1 to 1000"}},
		"top of no column":  {[]string{"top", "--sort", "size", "--join", open}, exitUsage, []string{"calls, errors, p50"}},
		"top too often":     {[]string{"top", "--every", "1ms", "--join", open}, exitUsage, []string{"100ms"}},
		"a demo's slip":     {[]string{"demo", "--nodes", "3", "--join", "foo"}, exitUsage, []string{"has no port"}},
		"no nodes":          {[]string{"demo", "--nodes", "0"}, exitUsage, []string{"want 1 to 20"}},
		"restart of what":   {[]string{"demo", "--nodes", "3", "--restart"}, exitUsage, []string{"--processes"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, extra := range [][]string{nil, {"--json"}} {
				got := sabirRun(t, append(test.args, extra...)...)
				if got.code != test.code || got.out != "" {
					t.Errorf("%+v, want exit code %d", got, test.code)
				}
				for i, want := range test.want {
					if !strings.Contains(got.errOut, want) && (extra == nil || i == 0) {
						t.Errorf("%q is not in %s", want, got.errOut)
					}
				}
				for _, secret := range []string{clusterKey, "another-key-of-16-bytes", "short-key", "the-password"} {
					if strings.Contains(got.errOut, secret) {
						t.Errorf("the secret is in %s", got.errOut)
					}
				}
			}
		})
	}
}

func TestAClusterIsJoinedWithItsKeyAndName(t *testing.T) {
	startCluster(t, &cli{key: clusterKey, cluster: "shop"})
	for _, keys := range []string{clusterKey, "the-next-key-of-the-cluster, " + clusterKey} { // as nodes have them while the key changes
		t.Setenv("SABIR_KEY", keys)
		if got := sabirRun(t, "nodes", "--cluster", "shop"); got.code != exitOK || !strings.Contains(got.out, "demo-3") || strings.Contains(got.out, clusterKey) {
			t.Errorf("%+v", got)
		}
	}
}

func TestAClusterIsJoinedOverMutualTLS(t *testing.T) {
	files := transporttest.NewAuthority(t, "cluster").Issue(t, t.TempDir(), "127.0.0.1")
	c := &cli{tlsCert: files.Cert, tlsKey: files.Key, tlsCA: files.CA}
	nodes := &sameProcess{cli: c, address: strings.Replace(freePort(t), "tcp://", "tls://", 1), log: io.Discard}
	if _, err := nodes.start(t.Context(), []string{"demo-1"}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := nodes.stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	args := []string{"nodes", "--join", nodes.address, "--tls-cert", files.Cert, "--tls-key", files.Key, "--tls-ca", files.CA}
	if got := sabirRun(t, args...); got.code != exitOK || !strings.Contains(got.out, "demo-1") {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, args[:3]...); got.code != exitFailed {
		t.Errorf("without the authorities: %+v", got)
	}
}

func TestCompletionAsksTheCluster(t *testing.T) {
	startCluster(t, &cli{})
	for _, test := range []struct {
		args []string
		want string
		not  string
	}{
		{[]string{"call", "users.get", "--to", "demo-"}, "demo-2\ttcp://127.0.0.1:", "cli-"},
		{[]string{"bench", "users.get", "--to", ""}, "demo-3\t", "cli-"},
		{[]string{"call", "users.g"}, "users.get\tfinds a user by id\n", "users.list"},
		{[]string{"call", "--stream", "orders."}, "orders.watch\t", "orders.create"},
		{[]string{"emit", "order."}, "order.created\ttaken by mail\n", "stock"},
		{[]string{"top", "--sort", ""}, "p99\n", "demo"},
	} {
		got := sabirRun(t, append([]string{"__complete"}, test.args...)...)
		if got.code != exitOK || !strings.Contains(got.out, test.want) || strings.Contains(got.out, test.not) {
			t.Errorf("%v: %+v, want %q and no %q", test.args, got, test.want, test.not)
		}
	}
}

func TestBenchMeasuresOverLinksWithAThousandCallers(t *testing.T) {
	startCluster(t, &cli{})
	got := oneJSON[benchResult](t, sabirRun(t, "bench", "users.get", "id=u-1", "--callers", "1000", "-d", "300ms", "--warmup", "50ms", "--json").out)
	if got.Calls < 1000 || got.Failed != 0 || got.Concurrency != 1000 || got.Latency.P50 <= 0 || !strings.HasPrefix(got.Target, "tcp://") {
		t.Errorf("%+v", got)
	}
	slower := sabirRun(t, "bench", "$node.info", "--to", "demo-1", "-c", "1", "-d", "50ms", "--warmup", "0s")
	if slower.code != exitOK || !strings.Contains(slower.out, "1 caller,") {
		t.Errorf("%+v", slower)
	}
}

func TestTheDemoIsAClusterInOneProcess(t *testing.T) {
	ctx, end := context.WithTimeout(t.Context(), 2*time.Minute)
	defer end()
	var ready struct {
		URL, Join string
		Nodes     []member
	}
	out := newFirstLine(func(line string) {
		defer end()
		if err := json.Unmarshal([]byte(line), &ready); err != nil {
			t.Error(err)
			return
		}
		if got := sabirRun(t, "nodes", "--join", ready.Join, "--key", clusterKey); got.code != exitOK || !strings.Contains(got.out, "demo-2") {
			t.Errorf("%+v", got)
		}
		if got := sabirRun(t, "call", "users.get", "id=u-2", "--url", ready.URL, "--key", clusterKey, "--json"); got.code != exitOK || !strings.Contains(got.out, `"id":"u-2"`) {
			t.Errorf("over HTTP, which a client-only node serves: %+v", got)
		}
	})
	t.Setenv("SABIR_KEY", clusterKey)
	if code := execute(ctx, []string{"demo", "--nodes", "3", "--http", ":0", "--json", "--rate", "100"}, strings.NewReader(""), out, io.Discard); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if len(ready.Nodes) != 3 || ready.Nodes[0].PID != os.Getpid() {
		t.Errorf("%+v", ready)
	}
}

func TestTheDemoSpreadsItsServicesSoThatOneNodeMayGo(t *testing.T) {
	for _, of := range []int{1, 2, 3, 5} {
		nodes := &sameProcess{cli: &cli{}, address: freePort(t), log: io.Discard}
		members, err := nodes.start(t.Context(), []string{"n1", "n2", "n3", "n4", "n5"}[:of])
		if err != nil {
			t.Fatal(err)
		}
		on := make(map[string]int)
		for _, m := range members {
			for _, service := range m.Services {
				on[service]++
			}
		}
		for _, service := range []string{"users", "stock", "orders", "mail"} {
			if on[service] < min(of, 2) || of > 2 && on[service] == of {
				t.Errorf("of %d nodes %d run %s", of, on[service], service)
			}
		}
		if err := nodes.stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestTheDemosClusterSaysWhatToTry(t *testing.T) {
	address := freePort(t)
	got := sabirRun(t, "demo", "--nodes", "3", "--http", ":0", "--for", "1s", "--rate", "50", "--join", address)
	if got.code != exitOK || got.errOut != "" {
		t.Errorf("%+v", got)
	}
	for _, want := range []string{"is open: 3 nodes at " + address, "sabir nodes --join " + address, "sabir top --join", "sabir bench users.get id=u-1 --retry", "has closed after", " orders, "} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is not in:\n%s", want, got.out)
		}
	}
}

func TestChangesOfProcessesArePrinted(t *testing.T) {
	of := member{ID: "demo-1", PID: 7}
	for want, news := range map[string]childNews{
		"demo-1 (process 7) has ended: signal: killed; 2 nodes left\n":                                                                           {member: of, Ended: true, Why: "signal: killed", Left: 2},
		"demo-1 (process 7) has ended: exit status 1; 1 node left; starting it again\n":                                                          {member: of, Ended: true, Why: "exit status 1", Left: 1, Restart: true},
		"demo-1 (process 7) has ended: signal: killed; 2 nodes left; it was the one at tcp://127.0.0.1:7700, so join at tcp://127.0.0.1:41234\n": {member: of, Ended: true, Why: "signal: killed", Left: 2, Instead: "tcp://127.0.0.1:41234"},
		"demo-1 is there again (process 7)\n":                                                                                                    {member: of, Left: 3},
	} {
		var out strings.Builder
		d := &clusterDemo{cli: &cli{}, address: demoJoin, out: &out}
		if d.tellNews(news); out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}

func TestNodesShowsWhichCheckOfReadinessFails(t *testing.T) {
	address := freePort(t)
	check := func(context.Context) error { return errors.New("connection refused") }
	startMember(t, "n-1", address, sabir.NewService("users", sabir.Ready("db", check)))
	got := sabirRun(t, "nodes", "--join", address)
	if got.code != 0 || !strings.Contains(got.out, "not ready: db") {
		t.Errorf("%d\n%s%s", got.code, got.out, got.errOut)
	}
}
