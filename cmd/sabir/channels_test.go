package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/web"
)

// startShop runs a node whose only consumer dead-letters every message, and publishes three.
func startShop(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	orders := channel.New[string]("shop.orders")
	billing := sabir.NewService("billing")
	orders.Consume(billing, func(context.Context, string) error { return channel.Reject(errors.New("no such user")) })
	node := startNode(t, sabir.NewNode(append(options, quiet(), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}})), channel.Broker("mem://"), sabir.Serve(billing))...))
	for _, order := range []string{"rope", "tar", "oil"} {
		if _, err := orders.Publish(t.Context(), node, order); err != nil {
			t.Fatal(err)
		}
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		letters, err := channel.DeadLetters(t.Context(), node, "shop.orders.dead", 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(letters) == 3 {
			return node
		}
		<-tick.C
	}
}

func TestChannelsAreListedAndTheirDeadLettersReplayedAndDeleted(t *testing.T) {
	for name, flags := range map[string][]string{"over HTTP": nil, "over links": {"--join", "mem://channels-command"}} {
		t.Run(name, func(t *testing.T) {
			startShop(t, sabir.Join("mem://channels-command"))
			run := func(args ...string) outcome {
				t.Helper()
				o := sabirRun(t, append(args, flags...)...)
				if o.code != exitOK {
					t.Fatalf("%q: %+v", args, o)
				}
				return o
			}
			o := run("channels")
			if lines := strings.Split(strings.TrimSpace(o.out), "\n"); len(lines) != 3 ||
				!strings.HasPrefix(strings.Join(strings.Fields(lines[1]), " "), "shop.orders 3 billing 0 0") ||
				!strings.HasPrefix(strings.Join(strings.Fields(lines[2]), " "), "shop.orders.dead 3 dead") {
				t.Errorf("got:\n%s", o.out)
			}
			if list := oneJSON[[]channel.Info](t, run("channels", "--json").out); len(list) != 2 || list[1].Kept != 3 || !list[1].Dead {
				t.Errorf("got %+v", list)
			}
			if o = run("channels", "dead", "shop.orders.dead"); !strings.Contains(o.out, "no such user") || !strings.Contains(o.out, `"rope"`) {
				t.Errorf("got:\n%s", o.out)
			}
			letters := oneJSON[[]channel.DeadLetter](t, run("channels", "dead", "shop.orders.dead", "--json", "--limit", "2").out)
			if len(letters) != 2 || letters[0].Dead.Group != "billing" {
				t.Fatalf("got %+v", letters)
			}
			if o = run("channels", "delete", "shop.orders.dead", letters[0].Key); o.out != "1 deleted\n" {
				t.Errorf("got %q", o.out)
			}
			if o = run("channels", "replay", "shop.orders.dead", letters[1].Key); o.out != "1 replayed\n" {
				t.Errorf("got %q", o.out)
			}
			if n := oneJSON[map[string]int](t, run("channels", "delete", "shop.orders.dead", "--all", "--json").out); n["deleted"] < 1 {
				t.Errorf("got %v", n)
			}
		})
	}
}

func TestChannelsCommandsSayWhatIsMissing(t *testing.T) {
	startNode(t, sabir.NewNode(quiet(), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}}))))
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"channels"}, exitFailed, "has no channels: it was made without channel.Broker"},
		{[]string{"channels", "dead"}, exitUsage, "shop.orders.dead"},
		{[]string{"channels", "delete", "a.dead"}, exitUsage, "--all"},
		{[]string{"channels", "replay", "a.dead", "1", "--all"}, exitUsage, "--all"},
	} {
		if o := sabirRun(t, test.args...); o.code != test.code || !strings.Contains(o.errOut, test.want) {
			t.Errorf("%q: %+v", test.args, o)
		}
	}
}

func TestWhoIsNoOperatorIsToldSoOfAllThatIsForOperators(t *testing.T) {
	startNode(t, sabir.NewNode(quiet(), sabir.HTTP(":0"), channel.Broker("mem://")))
	for command, action := range map[string]string{
		"channels": "$channels.list", "channels dead shop.orders.dead": "$channels.dead", "channels replay shop.orders.dead --all": "$channels.replay",
		"channels delete shop.orders.dead 1": "$channels.delete", "nodes": "$node.nodes", "call $channels.list": "$channels.list",
	} {
		got := sabirRun(t, strings.Fields(command)...)
		if !strings.Contains(got.errOut, "over HTTP the node answers "+action+" to its operators only") || !strings.Contains(got.errOut, "Operators of web.Config") {
			t.Errorf("%s: %s", command, got.errOut)
		}
	}
}

func TestADeadEventIsListedByItsTypeAndID(t *testing.T) {
	row := letterRow(channel.DeadLetter{Data: []byte(`{"total":1}`), Attributes: map[string]string{"type": "shop.paid", "id": "7", "source": "/shop"}})
	if got := row[len(row)-1]; got != `shop.paid 7 {"total":1}` {
		t.Errorf("got %q", got)
	}
}
