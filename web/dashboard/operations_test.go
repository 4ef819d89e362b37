package dashboard

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

func TestDeadLettersAreListedAndSettledByTheNodeThatHasThem(t *testing.T) {
	letters := channel.New[int]("post.letters")
	s := sabir.NewService("post")
	refused := make(chan int, 10)
	letters.ConsumeWith(s, channel.Consumer{Attempts: 1}, func(_ context.Context, n int) error {
		refused <- n
		return sabir.NewError(sabir.CodeInvalidArgument, "Unreadable", "nobody can read that hand")
	})
	n := openNode(t, sabir.Serve(s), channel.Broker("mem://"))
	board := boardOf(t, n, config{})
	_, err := letters.Publish(t.Context(), n, 9007199254740993) // more digits than a page's numbers have
	must(t, err)
	<-refused
	var list []channel.DeadLetter
	for len(list) == 0 {
		list, err = channel.DeadLetters(t.Context(), n, "post.letters.dead", 10)
		must(t, err)
	}
	got := board.ask(t, "GET", "/api/dead-letters?node="+n.ID()+"&channel=post.letters.dead", "").Body.String()
	if !strings.Contains(got, `"data":"9007199254740993"`) || !strings.Contains(got, "nobody can read that hand") {
		t.Errorf("it lists %s", got)
	}
	settle := func(in string) (int, string) {
		w := board.ask(t, "POST", "/api/settle", in, callHeader+": 1")
		return w.Code, w.Body.String()
	}
	for _, wrong := range []string{"", "{", `{"do":"read","node":"` + n.ID() + `"}`, `{"do":"delete","all":true,"channel":"post.letters.dead"}`} {
		if code, text := settle(wrong); code != 400 {
			t.Errorf("%s: %d %s", wrong, code, text)
		}
	}
	if code, text := settle(`{"do":"delete","node":"` + n.ID() + `","channel":"post.letters.dead","keys":["` + list[0].Key + `"]}`); code != 200 || text != `{"count":1}` {
		t.Errorf("%d %s", code, text)
	}
	if w := board.ask(t, "GET", "/api/dead-letters?node=n9&channel=post.letters.dead", ""); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
}

func TestAReadOnlyDashboardSettlesNoDeadLetters(t *testing.T) {
	b := openBoard(t, config{readOnly: true})
	if w := b.ask(t, "POST", "/api/settle", `{"do":"delete","node":"n1","channel":"a.dead","all":true}`, callHeader+": 1"); w.Code != 403 || !strings.Contains(w.Body.String(), errReadOnly.Name) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestTheMapAddsUpSpansByWhoWorksForWhom(t *testing.T) {
	span := func(id, parent, kind, service, name string, took float64) spanInfo {
		return spanInfo{ID: id, Parent: parent, Kind: kind, Service: service, Name: name, Start: 1000, Took: took}
	}
	failed := span("6", "1", "server", "stock", "stock.get", 4)
	failed.Failed = true
	m := mapOf([]spanInfo{
		span("1", "", "server", "orders", "orders.create", 10),
		span("2", "1", "client", "stock", "stock.reserve", 5), // the caller's wait: no work of its own
		span("3", "2", "server", "stock", "stock.reserve", 2),
		span("4", "1", "consumer", "mail", "handle order.created", 3),
		span("5", "9", "server", "users", "users.get", 1), // the span above is held no more
		failed,
		span("7", "1", "server", "$node", "$node.info", 1),
	})
	text, err := json.Marshal(m.Edges)
	must(t, err)
	want := `[{"from":"orders","to":"stock","count":2,"failed":1,"took":3,"names":["stock.get","stock.reserve"]},` +
		`{"from":"","to":"orders","count":1,"failed":0,"took":10,"names":["orders.create"]},` +
		`{"from":"orders","to":"mail","events":true,"count":1,"failed":0,"took":3,"names":["order.created"]}]`
	if string(text) != want || strings.Join(m.Services, " ") != "mail orders stock" {
		t.Errorf("the map is\n%s of %q, want\n%s", text, m.Services, want)
	}
}

func TestTheHourOfAllNodesIsTheSumOfTheirs(t *testing.T) {
	steps := make(map[int64]point)
	addHour(steps, []counts{{At: 10_001, Calls: 5}, {At: 20_001, Calls: 105, Failed: 10, Active: 2}, {At: 30_001, Calls: 7}}) // was started anew
	addHour(steps, []counts{{At: 14_000, Calls: 0}, {At: 24_000, Calls: 50, Active: 1}})
	if got := steps[20_000]; len(steps) != 1 || got != (point{At: 20_000, Rate: 15, Errors: 1, Active: 3}) {
		t.Errorf("%+v", steps)
	}
}
