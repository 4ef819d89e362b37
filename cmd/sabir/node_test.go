package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
)

func TestCallPrintsTheAnswerForPeopleAndForPrograms(t *testing.T) {
	startDemo(t)
	const want = "{\n  \"id\": \"u-1\",\n  \"name\": \"Ada Marino\",\n  \"email\": \"ada.marino@example.com\",\n  \"city\": \"Algiers\",\n" +
		"  \"blocked\": false,\n  \"since\": \"2026-01-05T09:00:00Z\"\n}\n"
	if got := sabirRun(t, "call", "users.get", "id=u-1"); got != (outcome{out: want}) {
		t.Errorf("%+v", got)
	}
	compact := `{"id":"u-1","name":"Ada Marino","email":"ada.marino@example.com","city":"Algiers","blocked":false,"since":"2026-01-05T09:00:00Z"}` + "\n"
	if got := sabirRun(t, "call", "users.get", "id=u-1", "--json"); got != (outcome{out: compact}) {
		t.Errorf("with --json: %+v", got)
	}
}

func TestInputComesFromArgumentsFileOrStdin(t *testing.T) {
	startDemo(t)
	file := filepath.Join(t.TempDir(), "order.json")
	if err := os.WriteFile(file, []byte(goodOrder), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, input := range [][]string{{goodOrder}, {"@" + file}, {"-"}, {"user_id=u-1", `lines:=[{"sku":"rope","quantity":2}]`}} {
		got := sabirRunWith(t, strings.NewReader(goodOrder), append([]string{"call", "orders.create", "--json"}, input...)...)
		if got.code != exitOK || !strings.Contains(got.out, `"total_cents":4900`) {
			t.Errorf("%v: %+v", input, got)
		}
	}
}

func TestWhyACallFailed(t *testing.T) {
	startDemo(t)
	for name, test := range map[string]struct {
		args []string
		want []string
	}{
		"a rule": {[]string{"call", "orders.create", badOrder}, []string{
			"error: the input of orders.create is not valid\n", "  lines[0].quantity:  quantity must be 1 or greater  (rule gte=1, given 0)\n"}},
		"no such action": {[]string{"call", "user.get"}, []string{
			"error: the node offers no action user.get; did you mean users.get", `"sabir actions"`}},
		"a type":                  {[]string{"call", "users.get", "id:=7"}, []string{"BadInput", "/id", "try: name=text is always a text, name:=JSON"}},
		"a type that is measured": {[]string{"bench", "users.get", "id:=7"}, []string{"BadInput", "/id", "try: name=text is always a text, name:=JSON"}},
		"the service's own error": {[]string{"call", "users.get", "id=u-99"}, []string{
			"error: no such user\n", "UserNotFound (NotFound)", `data: {"id":"u-99"}`}},
		"a panic":    {[]string{"call", "orders.crash"}, []string{"Panic (Internal)"}},
		"a stream":   {[]string{"call", "orders.watch"}, []string{"stream"}},
		"not public": {[]string{"call", "stock.reserve"}, []string{"no action"}},
		"no node": {[]string{"call", "users.get", "--url", nowhere}, []string{
			"no node answers at " + nowhere, `"sabir demo"`, "SABIR_URL"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := sabirRun(t, test.args...)
			if got.code != exitFailed || got.out != "" {
				t.Errorf("%+v, want exit code 1", got)
			}
			for _, want := range test.want {
				if !strings.Contains(got.errOut, want) {
					t.Errorf("%q is not in:\n%s", want, got.errOut)
				}
			}
			asJSON := sabirRun(t, append(test.args, "--json")...)
			failure := oneJSON[failureJSON](t, asJSON.errOut)
			if asJSON.code != exitFailed || failure.Exit != exitFailed || failure.Error.Code == "" || failure.Error.Message == "" || asJSON.out != "" {
				t.Errorf("with --json: %+v", asJSON)
			}
		})
	}
}

func TestACallEndsAtItsTimeout(t *testing.T) {
	slow := sabir.NewService("slow")
	sabir.Handle(slow, "wait", func(ctx context.Context, _ struct{}) (struct{}, error) {
		<-ctx.Done()
		return struct{}{}, ctx.Err()
	})
	startNode(t, sabir.NewNode(quiet(), sabir.Serve(slow), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}}))))
	got := sabirRun(t, "call", "slow.wait", "--timeout", "50ms")
	if got.code != exitFailed || !strings.Contains(got.errOut, "DeadlineExceeded") || !strings.Contains(got.errOut, "--timeout") {
		t.Errorf("%+v", got)
	}
}

func TestMetadataGoesAlong(t *testing.T) {
	echo := sabir.NewService("echo")
	sabir.Handle(echo, "meta", func(ctx context.Context, _ struct{}) (map[string]string, error) {
		return sabir.InfoFromContext(ctx).Metadata, nil
	})
	startNode(t, sabir.NewNode(quiet(), sabir.Serve(echo), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}}))))
	got := sabirRun(t, "call", "echo.meta", "--meta", "tenant=acme", "--meta", "Mixed-Case=a=b", "--json")
	pairs := oneJSON[map[string]string](t, got.out)
	if pairs["tenant"] != "acme" || pairs["Mixed-Case"] != "a=b" {
		t.Errorf("the action got %v", pairs)
	}
}

func TestANodeWithAKeyIsCalledWithIt(t *testing.T) {
	const key = "0123456789-secret-key"
	startDemo(t, gateway.Key(key))
	if got := sabirRun(t, "nodes"); got.code != exitFailed || !strings.Contains(got.errOut, "SABIR_HTTP_KEY") {
		t.Errorf("without the key: %+v", got)
	}
	t.Setenv("SABIR_KEY", key)
	if got := sabirRun(t, "nodes"); got.code != exitFailed {
		t.Errorf("the key of a cluster was sent over HTTP: %+v", got)
	}
	if got := sabirRun(t, "nodes", "--key", key); got.code != exitOK {
		t.Errorf("with --key: %+v", got)
	}
	for _, keys := range []string{key, key + ",an-old-secret-key"} { // as nodes take it
		t.Setenv("SABIR_HTTP_KEY", keys)
		if got := sabirRun(t, "nodes"); got.code != exitOK {
			t.Errorf("with SABIR_HTTP_KEY: %+v", got)
		}
	}
}

func TestWhoCallsAsNobodyIsToldHowToCallAsSomebody(t *testing.T) {
	address := freePort(t)
	s := sabir.NewService("safe", sabir.Use(auth.Require()))
	sabir.Handle(s, "open", func(context.Context, sabir.Empty) (int, error) { return 1, nil })
	startMember(t, "a", address, s)
	got := sabirRun(t, "call", "safe.open", "--join", address)
	if got.code != exitFailed || !strings.Contains(got.errOut, "NotSignedIn") || !strings.Contains(got.errOut, "call over HTTP, with --url, and give your token") {
		t.Errorf("%+v", got)
	}
}

func TestEmitReachesHandlersOnceAndBroadcastAll(t *testing.T) {
	got := make(chan string, 10)
	listener := func(version int) *sabir.Service {
		s := sabir.NewService("listener", sabir.Version(version))
		sabir.On(s, "user.*", func(_ context.Context, payload map[string]any) error {
			got <- payload["id"].(string)
			return nil
		})
		return s
	}
	startNode(t, sabir.NewNode(quiet(), sabir.Serve(listener(1), listener(2)), sabir.Join("mem://emit")))
	if run := sabirRun(t, "emit", "user.changed", "id=u-1", "--join", "mem://emit"); run != (outcome{out: "emitted user.changed\n"}) || len(got) != 1 {
		t.Errorf("%+v, %d handlers ran, want 1 of the group", run, len(got))
	}
	if run := sabirRun(t, "emit", "user.changed", `{"id":"u-2"}`, "--broadcast", "--json", "--join", "mem://emit"); run != (outcome{out: `{"event":"user.changed","broadcast":true}` + "\n"}) || len(got) != 3 {
		t.Errorf("%+v, %d handlers ran, want 2 more", run, len(got))
	}
	if run := sabirRun(t, "emit", "x..y", "--join", "mem://emit"); run.code != exitUsage || !strings.Contains(run.errOut, `"x..y"`) {
		t.Errorf("a bad name: %+v", run)
	}
	if run := sabirRun(t, "emit", "user.changed"); run.code != exitUsage || !strings.Contains(run.errOut, "--join") {
		t.Errorf("over HTTP: %+v", run)
	}
}

func TestListsOfANode(t *testing.T) {
	node := startDemo(t)
	for name, test := range map[string]struct {
		args []string
		want []string // in the output
		not  string
	}{
		"actions":            {[]string{"actions"}, []string{"ACTION ", "users.get ", "shop.GetUser", "finds a user by id", "stream: ", "cluster: "}, "$node"},
		"actions by part":    {[]string{"actions", "order"}, []string{"orders.create"}, "users.get"},
		"actions by pattern": {[]string{"actions", "*.get"}, []string{"users.get", "stock.get"}, "users.list"},
		"all actions":        {[]string{"actions", "--all"}, []string{"$node.info"}, "\x00"},
		"no action":          {[]string{"actions", "nothing"}, []string{"no action is called like that"}, "ACTION"},
		"services":           {[]string{"services"}, []string{"SERVICE", "order.created, order.rejected", "users, stock", "takes orders"}, "$node"},
		"nodes":              {[]string{"nodes"}, []string{"NODE", "WAITING", "0.0 MiB (0 %)", node.ID(), "running", "mail, orders, stock, users"}, "\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			got := sabirRun(t, test.args...)
			if got.code != exitOK || got.errOut != "" || strings.Contains(got.out, test.not) {
				t.Errorf("%+v, want no %q", got, test.not)
			}
			for _, want := range test.want {
				if !strings.Contains(got.out, want) {
					t.Errorf("%q is not in:\n%s", want, got.out)
				}
			}
			oneJSON[[]map[string]any](t, sabirRun(t, append(test.args, "--json")...).out)
		})
	}
}

func TestCompletionAsksTheNode(t *testing.T) {
	startDemo(t)
	for _, test := range []struct {
		args []string
		want string
		not  string
	}{
		{[]string{"call", "users.g"}, "users.get\tfinds a user by id\n", "users.list"},
		{[]string{"call", "orders."}, "orders.create\t", "orders.watch"}, // streams cannot be called
		{[]string{"call", "$"}, "$node.info\t", "users"},
		{[]string{"bench", "mail"}, "mail.outbox\t", "users"},
		{[]string{"bench", "--local", ""}, "stock.reserve\n", "watch"},
		{[]string{"emit", "order."}, "order.created\ttaken by mail\n", "stock"},
		{[]string{"ver"}, "version\t", "call"},
	} {
		got := sabirRun(t, append([]string{"__complete"}, test.args...)...)
		if got.code != exitOK || !strings.Contains(got.out, test.want) || strings.Contains(got.out, test.not) {
			t.Errorf("%v: %+v, want %q and no %q", test.args, got, test.want, test.not)
		}
	}
	if got := sabirRun(t, "__complete", "--url", nowhere, "call", ""); got.code != exitOK || strings.Contains(got.out, "users") {
		t.Errorf("without a node: %+v, want nothing", got)
	}
}

func TestAnActionThatCallsAnUnknownOneIsNotSaidToBeUnknown(t *testing.T) {
	s := sabir.NewService("orders")
	sabir.Handle(s, "place", func(ctx context.Context, in struct{}) (struct{}, error) {
		return sabir.Call[struct{}](ctx, sabir.NodeFromContext(ctx), "stock.take", in)
	})
	address := freePort(t)
	node := startNode(t, sabir.NewNode(quiet(), sabir.Serve(s), sabir.Join(address), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}}))))
	for _, to := range [][]string{{"--url", "http://" + node.HTTPAddr()}, {"--join", address}} {
		got := sabirRun(t, append([]string{"call", "orders.place"}, to...)...)
		if got.code != exitFailed || strings.Contains(got.errOut, "no action orders.place") || !strings.Contains(got.errOut, "on node "+node.ID()) {
			t.Errorf("%v: %+v", to, got)
		}
	}
}

func TestCompletionOffersFilesOnlyWhereOneIsTaken(t *testing.T) {
	const files, noFiles, folders = ":0\n", ":4\n", ":16\n" // cobra's directives
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"nodes", ""}, noFiles},
		{[]string{"route", "clear", ""}, noFiles},
		{[]string{"new", ""}, noFiles},
		{[]string{"nodes", "--cluster", ""}, noFiles},
		{[]string{"nodes", "--tls-ca", ""}, files},
		{[]string{"gen", "ts", "-o", ""}, files},
		{[]string{"codecs", ""}, files},
		{[]string{"codecs", "order.json", ""}, noFiles},
		{[]string{"pubkey", ""}, files},
		{[]string{"config", "check", ""}, files},
		{[]string{"new", "shop", "--dir", ""}, folders},
	} {
		if got := sabirRun(t, append([]string{"__complete"}, test.args...)...); got.code != exitOK || !strings.HasSuffix(got.out, test.want) {
			t.Errorf("%v: %+v, want the directive %s", test.args, got, test.want)
		}
	}
}

func TestVersionNamesGoAndSystem(t *testing.T) {
	got := oneJSON[versionInfo](t, sabirRun(t, "version", "--json").out)
	if got.Version == "" || !strings.HasPrefix(got.Go, "go1.") || got.OS == "" || got.Arch == "" {
		t.Errorf("%+v", got)
	}
	if flag := sabirRun(t, "--version").out; flag != sabirRun(t, "version").out {
		t.Errorf("--version is %q", flag)
	}
	if plain := sabirRun(t, "version").out; !strings.HasPrefix(plain, "sabir "+got.Version+" (go1.") {
		t.Error(plain)
	}
}
