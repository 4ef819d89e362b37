package actor_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sabir-go/sabir/actor"
)

type quote struct {
	Symbol string
	Price  int
}

// ticker publishes what it receives.
type ticker struct{ quotes *actor.Topic[quote] }

func (t *ticker) Init(p *actor.Process, _ struct{}) (err error) {
	t.quotes, err = actor.NewTopic[quote](p, "quotes", actor.TopicConfig{Keep: 1})
	return err
}
func (t *ticker) Quote(p *actor.Process, q quote) error { return t.quotes.Publish(p, q) }

var tickerBehavior = actor.Define("ticker", (*ticker).Init, actor.OnMessage((*ticker).Quote))

// trader gets all quotes, and ends with the ticker.
type trader struct{ seen chan quote }

func (t *trader) Init(p *actor.Process, seen chan quote) error {
	t.seen = seen
	return p.Subscribe(actor.Name{Name: "quotes"}) // with Node: those of another node
}
func (t *trader) Quote(_ *actor.Process, q quote) error { t.seen <- q; return nil }

var traderBehavior = actor.Define("trader", (*trader).Init, actor.OnMessage((*trader).Quote))

func ExampleNewEvent() {
	ctx := context.Background()
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(ctx)

	tick, err := actor.Spawn(system, tickerBehavior, struct{}{})
	if err != nil {
		log.Fatal(err)
	}
	seen := make(chan quote)
	if _, err := actor.Spawn(system, traderBehavior, seen); err != nil {
		log.Fatal(err)
	}
	actor.Send(system, tick, quote{"GOLD", 1900})
	fmt.Println(<-seen)
	// Output: {GOLD 1900}
}

// worker is a member of a group.
type groupWorker struct{ got chan string }

func (w *groupWorker) Init(p *actor.Process, got chan string) error {
	w.got = got
	return p.Join("workers")
}
func (w *groupWorker) Hear(_ *actor.Process, text string) error { w.got <- text; return nil }

var groupWorkerBehavior = actor.Define("group-worker", (*groupWorker).Init, actor.OnMessage((*groupWorker).Hear))

func ExampleSendGroup() {
	ctx := context.Background()
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(ctx)

	got := make(chan string)
	for range 3 {
		if _, err := actor.Spawn(system, groupWorkerBehavior, got); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(len(system.Members("workers")), "members")
	actor.SendGroup(system, "workers", "hello")
	for range 3 {
		fmt.Println(<-got)
	}
	// Output:
	// 3 members
	// hello
	// hello
	// hello
}
