package sabirtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/sabirtest"
	_ "github.com/sabir-go/sabir/web"
)

type getUser struct {
	ID string `json:"id"`
}

type user struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type order struct {
	User string `json:"user"`
	Item string `json:"item"`
}

type placed struct {
	Number int    `json:"number"`
	For    string `json:"for"`
}

var (
	userGet     = sabir.NewAction[getUser, user]("v2.users.get")
	userWatch   = sabir.NewStream[getUser, user]("v2.users.watch")
	orderPlace  = sabir.NewAction[order, placed]("orders.place", sabir.Route("POST", "/orders"))
	orderPlaced = sabir.NewEvent[order]("orders.placed")
	mail        = channel.New[string]("mail.out")

	errUnknown = sabir.NewError(sabir.CodeNotFound, "UnknownUser", "there is no such user")
)

// newOrders is the service under test: it calls users, emits an event and publishes a mail.
func newOrders() *sabir.Service {
	s := sabir.NewService("orders")
	number := 0
	orderPlace.Handle(s, func(ctx context.Context, in order) (placed, error) {
		u, err := userGet.Call(ctx, sabir.NodeFromContext(ctx), getUser{in.User})
		if err != nil {
			return placed{}, err
		}
		if err := orderPlaced.Emit(ctx, sabir.NodeFromContext(ctx), in); err != nil {
			return placed{}, err
		}
		if _, err := mail.Publish(ctx, sabir.NodeFromContext(ctx), "to "+u.Name); err != nil {
			return placed{}, err
		}
		number++
		return placed{number, u.Name}, nil
	})
	return s
}

func ada(context.Context, getUser) (user, error) { return user{"u-1", "Ada"}, nil }

func TestAFakeAnswersForAServiceAndRecordsItsCalls(t *testing.T) {
	var fakes sabirtest.Fakes
	gets := sabirtest.Fake(&fakes, userGet, ada)
	events := sabirtest.Events(&fakes, orderPlaced)
	mails := sabirtest.Messages(&fakes, mail)
	node := sabirtest.Start(t, sabir.Serve(newOrders()), channel.Broker("mem://"), fakes.Serve())

	in := order{"u-1", "lamp"}
	if got, err := orderPlace.Call(t.Context(), node, in); err != nil || got != (placed{1, "Ada"}) {
		t.Fatalf("%+v, %v", got, err)
	}
	if calls := gets.All(); len(calls) != 1 || calls[0] != (getUser{"u-1"}) {
		t.Errorf("calls of users: %+v", calls)
	}
	if got := events.Await(t, 1); got[0] != in {
		t.Errorf("events: %+v", got)
	}
	if got := mails.AwaitMatch(t, func(text string) bool { return strings.HasPrefix(text, "to ") }); got != "to Ada" {
		t.Errorf("mail: %q", got)
	}
}

func TestARecordOfEventsTellsHowTheyWereEmitted(t *testing.T) {
	var fakes sabirtest.Fakes
	events := sabirtest.Events(&fakes, orderPlaced)
	node := sabirtest.Start(t, fakes.Serve(), sabir.NodeID("n1"))
	ctx := t.Context()
	all := orderPlaced.Emit(ctx, node, order{Item: "lamp"})
	some := orderPlaced.Emit(ctx, node, order{Item: "rope"}, sabir.Groups("mail", "stock"))
	every := orderPlaced.Broadcast(ctx, node, order{Item: "pen"})
	if err := errors.Join(all, some, every); err != nil {
		t.Fatal(err)
	}
	infos := events.Infos()
	if len(infos) != 3 || events.All()[1].Item != "rope" {
		t.Fatalf("%+v of %+v", infos, events.All())
	}
	if infos[0].Groups != nil || infos[0].Broadcast || infos[0].From != "n1" || !slices.Equal(infos[1].Groups, []string{"mail", "stock"}) || !infos[2].Broadcast {
		t.Errorf("%+v", infos)
	}
}

func TestAFakeFailsAsItsFunctionSays(t *testing.T) {
	var fakes sabirtest.Fakes
	sabirtest.Fake(&fakes, userGet, func(context.Context, getUser) (user, error) { return user{}, errUnknown })
	events := sabirtest.Events(&fakes, orderPlaced)
	node := sabirtest.Start(t, sabir.Serve(newOrders()), fakes.Serve())
	if _, err := orderPlace.Call(t.Context(), node, order{}); !errors.Is(err, errUnknown) || events.Len() > 0 {
		t.Errorf("%v, events: %d", err, events.Len())
	}
}

func TestAFakeWithoutAFunctionAnswersTheZeroValue(t *testing.T) {
	var fakes sabirtest.Fakes
	sabirtest.Fake(&fakes, userGet, nil)
	node := sabirtest.Start(t, fakes.Serve())
	if got, err := userGet.Call(t.Context(), node, getUser{"u-1"}); err != nil || got != (user{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAFakeMayBeAStream(t *testing.T) {
	var fakes sabirtest.Fakes
	sabirtest.FakeStream(&fakes, userWatch, func(_ context.Context, s *sabir.Stream[getUser, user]) error {
		return s.Send(user{Name: "Ada"})
	})
	node := sabirtest.Start(t, fakes.Serve())
	for got, err := range userWatch.Call(t.Context(), node, getUser{}) {
		if err != nil || got.Name != "Ada" {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestNodesOfAClusterCallEachOther(t *testing.T) {
	var fakes sabirtest.Fakes
	gets := sabirtest.Fake(&fakes, userGet, ada)
	nodes := sabirtest.Cluster(t, []sabir.NodeOption{sabir.Serve(newOrders()), channel.Broker("mem://")}, []sabir.NodeOption{fakes.Serve()}, nil)
	if _, err := orderPlace.Call(t.Context(), nodes[2], order{"u-1", "lamp"}); err != nil || gets.Len() != 1 {
		t.Errorf("%v, %d calls of users", err, gets.Len())
	}
}

func TestFaultsFailCallsByNameAndNumber(t *testing.T) {
	busy := sabir.NewError(sabir.CodeUnavailable, "Busy", "busy for a while").AsRetryable()
	for _, test := range []struct {
		name     string
		faults   func(*sabirtest.Faults)
		want     []string // of three calls
		handlers int      // that ran
	}{
		{"none", func(*sabirtest.Faults) {}, []string{"", "", ""}, 3},
		{"the second call", func(f *sabirtest.Faults) { f.Fail("v2.users.get", 2, busy) }, []string{"", "Busy", ""}, 2},
		{"each call of a service", func(f *sabirtest.Faults) { f.Fail("v2.users.*", sabirtest.Each, busy) }, []string{"Busy", "Busy", "Busy"}, 0},
		{"another action", func(f *sabirtest.Faults) { f.Fail("stock.*", sabirtest.Each, busy) }, []string{"", "", ""}, 3},
		{"a lost answer", func(f *sabirtest.Faults) { f.LoseAnswer("v2.users.get", 3) }, []string{"", "", "LinkLost"}, 3},
		{"two for one call", func(f *sabirtest.Faults) {
			f.Delay("v2.users.get", 1, time.Nanosecond)
			f.Fail("v2.users.get", 1, busy)
		}, []string{"Busy", "", ""}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			var faults sabirtest.Faults
			test.faults(&faults)
			var fakes sabirtest.Fakes
			gets := sabirtest.Fake(&fakes, userGet, ada)
			node := sabirtest.Start(t, fakes.Serve(), sabir.Use(&faults))
			for i, want := range test.want {
				got := ""
				if _, err := userGet.Call(t.Context(), node, getUser{}); err != nil {
					got = sabir.AsError(err).Name
				}
				if got != want {
					t.Errorf("call %d: %q, want %q", i+1, got, want)
				}
			}
			if gets.Len() != test.handlers {
				t.Errorf("%d handlers ran, want %d", gets.Len(), test.handlers)
			}
		})
	}
}

func TestPoliciesSeeFaultsAsThoseOfTheAction(t *testing.T) {
	var faults sabirtest.Faults
	faults.Fail("v2.users.get", 1, sabir.NewError(sabir.CodeUnavailable, "Busy", "busy for a while").AsRetryable())
	var fakes sabirtest.Fakes
	sabirtest.Fake(&fakes, userGet, ada)
	node := sabirtest.Start(t, fakes.Serve(), sabir.Use(policy.Retry{}, &faults))
	if got, err := userGet.Call(t.Context(), node, getUser{}); err != nil || got.Name != "Ada" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestInABubbleTimePassesInAnInstant(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var faults sabirtest.Faults
		faults.Delay("v2.users.get", sabirtest.Each, time.Hour)
		var fakes sabirtest.Fakes
		sabirtest.Fake(&fakes, userGet, ada)
		nodes := sabirtest.Cluster(t, []sabir.NodeOption{fakes.Serve(), sabir.Use(&faults)}, nil)
		began := time.Now()
		_, err := userGet.Call(t.Context(), nodes[1], getUser{}, sabir.WithTimeout(20*time.Minute))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 20*time.Minute {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// failing is a test that fails, without this one.
type failing struct {
	testing.TB
	said []string
}

func (f *failing) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func (f *failing) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	panic(f)
}

// failures returns what a check says where it fails.
func failures(t *testing.T, check func(testing.TB)) []string {
	f := &failing{TB: t}
	func() {
		defer func() {
			if r := recover(); r != nil && r != any(f) {
				panic(r)
			}
		}()
		check(f)
	}()
	return f.said
}

func TestAWaitInVainFailsWithWhatCame(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var fakes sabirtest.Fakes
		gets := sabirtest.Fake(&fakes, userGet, ada)
		node := sabirtest.Start(t, fakes.Serve())
		if _, err := userGet.Call(t.Context(), node, getUser{"u-7"}); err != nil {
			t.Fatal(err)
		}
		said := failures(t, func(f testing.TB) { gets.Await(f, 2) })
		if len(said) != 1 || !strings.Contains(said[0], "calls of v2.users.get in vain; 1 came: [{ID:u-7}]") {
			t.Errorf("%q", said)
		}
	})
}

func TestADescriptionIsThatOfTheTestedServicesInEachRun(t *testing.T) {
	t.Setenv("SABIRTEST_UPDATE", "1")
	var files [2]string
	for i := range files {
		file := filepath.Join(t.TempDir(), "api.json")
		var fakes sabirtest.Fakes
		if i > 0 { // what a test has stand in, and listens to, is nothing that the service offers
			sabirtest.Fake(&fakes, userGet, ada)
			sabirtest.Events(&fakes, orderPlaced)
		}
		sabirtest.Compatible(t, sabirtest.Start(t, sabir.Serve(newOrders()), fakes.Serve()), file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = string(text)
	}
	if files[0] != files[1] || !strings.Contains(files[0], `"title": "orders"`) {
		t.Errorf("%s\n%s", files[0], files[1])
	}
}

func TestADescriptionTellsWhatBreaksCallers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "api", "orders.json")
	node := sabirtest.Start(t, sabir.Serve(newOrders()))
	if said := failures(t, func(f testing.TB) { sabirtest.Compatible(f, node, file) }); len(said) != 1 || !strings.Contains(said[0], "SABIRTEST_UPDATE") {
		t.Errorf("without a file: %q", said)
	}
	t.Setenv("SABIRTEST_UPDATE", "1")
	sabirtest.Compatible(t, node, file)
	t.Setenv("SABIRTEST_UPDATE", "")
	sabirtest.Compatible(t, node, file)

	other := sabir.NewService("orders")
	sabir.Handle(other, "place", func(context.Context, struct {
		User string `json:"user" validate:"required"`
		Item string `json:"item"`
	}) (struct {
		Number int `json:"number"`
	}, error) {
		panic("not called")
	})
	said := failures(t, func(f testing.TB) { sabirtest.Compatible(f, sabirtest.Start(t, sabir.Serve(other)), file) })
	if text := strings.Join(said, "\n"); !strings.Contains(text, "orders.place") || !strings.Contains(text, "for") {
		t.Errorf("with an answer that lost a member: %q", said)
	}

	handling := func(fn func(s *sabir.Service)) *sabir.Service {
		s := sabir.NewService("mail")
		fn(s)
		return s
	}
	file = filepath.Join(t.TempDir(), "mail.json")
	t.Setenv("SABIRTEST_UPDATE", "1")
	sabirtest.Compatible(t, sabirtest.Start(t, sabir.Serve(handling(func(s *sabir.Service) {
		sabir.On(s, "orders.placed", func(context.Context, struct {
			User string `json:"user"`
		}) error {
			return nil
		})
	}))), file)
	t.Setenv("SABIRTEST_UPDATE", "")
	said = failures(t, func(f testing.TB) {
		sabirtest.Compatible(f, sabirtest.Start(t, sabir.Serve(handling(func(s *sabir.Service) {
			sabir.On(s, "orders.placed", func(context.Context, struct {
				User int `json:"user"`
			}) error {
				return nil
			})
		}))), file)
	})
	if len(said) != 1 || !strings.Contains(said[0], "event orders.placed in mail: the payload's /user is integer instead of string") {
		t.Errorf("with an event of another type: %q", said)
	}
}

const golden = `### An order is placed
POST /orders
Content-Type: application/json

{"user": "u-1", "item": "lamp"}

HTTP 200
Content-Type: application/json

{
  "for": "Ada",
  "number": "<any>"
}

### There is no such page
GET /nothing
`

func TestGoldenAnswersAreComparedAndWritten(t *testing.T) {
	var fakes sabirtest.Fakes
	sabirtest.Fake(&fakes, userGet, ada)
	node := sabirtest.Start(t, sabir.Serve(newOrders()), fakes.Serve(), channel.Broker("mem://"), sabir.HTTP("127.0.0.1:0"))
	file := filepath.Join(t.TempDir(), "orders.http")
	put := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(f testing.TB) { sabirtest.GoldenHTTP(f, node, file) }

	put(golden)
	if said := failures(t, check); len(said) != 1 || !strings.Contains(said[0], "There is no such page: the file has no answer yet") {
		t.Errorf("with one answer: %q", said)
	}
	t.Setenv("SABIRTEST_UPDATE", "1")
	check(t)
	t.Setenv("SABIRTEST_UPDATE", "")
	check(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), strings.TrimSuffix(golden, "\n")) || !strings.Contains(string(text), "HTTP 404") || !strings.Contains(string(text), `"requestId": "<any>"`) {
		t.Errorf("written:\n%s", text)
	}
	put(strings.Replace(string(text), `"Ada"`, `"Bob"`, 1))
	if said := failures(t, check); len(said) != 1 || !strings.Contains(said[0], `want {`) {
		t.Errorf("with another name: %q", said)
	}
	put(strings.Replace(string(text), `HTTP 200`, `HTTP 201`, 1))
	if said := failures(t, check); len(said) != 1 || !strings.Contains(said[0], `status 200, want 201`) {
		t.Errorf("with another status: %q", said)
	}
}

// updated returns what an update makes of a file with requests to a shop.
func updated(t *testing.T, text string) (after string, said []string) {
	s := sabir.NewService("shop")
	sabir.Handle(s, "item", func(context.Context, sabir.Empty) (map[string]*int, error) { return map[string]*int{"price": nil}, nil }, sabir.Route("GET", "/item"))
	sabir.HandleStream(s, "page", func(_ context.Context, stream *sabir.Stream[sabir.Empty, []byte]) error {
		return stream.Send([]byte("Prices\n### Lamps\n"))
	}, sabir.Route("GET", "/page"))
	node := sabirtest.Start(t, sabir.Serve(s), sabir.HTTP("127.0.0.1:0"))
	file := filepath.Join(t.TempDir(), "shop.http")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SABIRTEST_UPDATE", "1")
	said = failures(t, func(f testing.TB) { sabirtest.GoldenHTTP(f, node, file) })
	now, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(now), said
}

func TestAnUpdateKeepsAnyWhereTheAnswerIsNull(t *testing.T) {
	text := "### An item\nGET /item\n\nHTTP 200\n\n{\n  \"price\": \"<any>\"\n}\n"
	if after, said := updated(t, text); after != text || len(said) > 0 {
		t.Errorf("%s\n%q", after, said)
	}
}

func TestAnUpdateRefusesAnAnswerThatTheFileCannotHold(t *testing.T) {
	text := "### A page\nGET /page\n"
	after, said := updated(t, text)
	if after != text || len(said) != 1 || !strings.Contains(said[0], "A page: a line of the answer begins with ###") {
		t.Errorf("%s\n%q", after, said)
	}
}

func TestAGoldenFileNeedsANodeWithHTTP(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.http")
	if err := os.WriteFile(file, []byte("### a\nGET /\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	node := sabirtest.Start(t)
	if said := failures(t, func(f testing.TB) { sabirtest.GoldenHTTP(f, node, file) }); len(said) != 1 || !strings.Contains(said[0], "has no address for HTTP") {
		t.Errorf("%q", said)
	}
}

func TestAGoldenFileThatCannotBeReadIsReported(t *testing.T) {
	node := sabirtest.Start(t, sabir.Serve(newOrders()), sabir.HTTP("127.0.0.1:0"))
	for text, want := range map[string]string{
		"":                              "there is no request in it",
		"GET /":                         `a part begins with a line "### …"`,
		"### a":                         "a: there is no request after the title",
		"### a\nGET":                    `want "POST /path", not "GET"`,
		"### a\nGET /\nno colon\n":      `the header "no colon" has no colon`,
		"### a\nGET /\n\nHTTP teapot\n": `want "HTTP 200", not "HTTP teapot"`,
	} {
		file := filepath.Join(t.TempDir(), "a.http")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if said := failures(t, func(f testing.TB) { sabirtest.GoldenHTTP(f, node, file) }); len(said) != 1 || !strings.Contains(said[0], want) {
			t.Errorf("%q: %q", text, said)
		}
	}
}

// The first node waited for the second one, which was not started before the first one had been.
func TestANodeOfAClusterMayDependOnALaterOne(t *testing.T) {
	shop := sabir.NewService("shop", sabir.DependsOn(sabir.ServiceName("stock")))
	sabir.Handle(shop, "take", func(ctx context.Context, in int) (int, error) { return sabir.Call[int](ctx, shop, "stock.take", in) })
	stock := sabir.NewService("stock")
	sabir.Handle(stock, "take", func(_ context.Context, in int) (int, error) { return in - 1, nil })
	nodes := sabirtest.Cluster(t, []sabir.NodeOption{sabir.Serve(shop)}, []sabir.NodeOption{sabir.Serve(stock)})
	if left, err := sabir.Call[int](t.Context(), nodes[0], "shop.take", 3); err != nil || left != 2 {
		t.Errorf("%d, %v", left, err)
	}
}

func TestASubtestMayStartClusters(t *testing.T) {
	t.Run("50% of two", func(t *testing.T) {
		for range 2 {
			var fakes sabirtest.Fakes
			sabirtest.Fake(&fakes, userGet, ada)
			nodes := sabirtest.Cluster(t, []sabir.NodeOption{fakes.Serve()}, nil)
			if known := nodes[1].Nodes(); len(known) != 2 {
				t.Errorf("%d nodes are in the cluster, want 2", len(known))
			}
		}
	})
}
