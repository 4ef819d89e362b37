package docs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/sabirtest"
)

// doc: repeat-input
type PlaceOrder struct {
	Key  string `json:"key" header:"Idempotency-Key" validate:"required,max=64"`
	Item string `json:"item" validate:"required"`
}

// end

type PlacedOrder struct {
	ID   string `json:"id"`
	Item string `json:"item"`
}

// doc: repeat
var errKeyReused = sabir.NewError(sabir.CodeAlreadyExists, "KeyReused", "the key belongs to another order")

var placeOrder = sabir.NewAction[PlaceOrder, PlacedOrder]("orders.place",
	sabir.Route("POST", "/orders"), sabir.Idempotent(), sabir.Errors(errKeyReused))

// onceOrder keeps the order of a key, so that a second attempt is answered with it.
type onceOrder struct{ grain.State[PlacedOrder] }

func (o *onceOrder) Place(p *actor.Process, in PlaceOrder) (PlacedOrder, error) {
	if !o.Saved() {
		o.Value = PlacedOrder{ID: rand.Text(), Item: in.Item}
		return o.Value, o.Save(p) // of two saves the store takes one
	}
	if o.Value.Item != in.Item {
		return PlacedOrder{}, errKeyReused
	}
	return o.Value, nil
}

var orderKind = grain.Define("order", grain.OnCall((*onceOrder).Place))

// end

func TestAPostWithAKeyMakesOneOrderOnWhateverNodeItIsRepeated(t *testing.T) {
	st, err := store.Open(t.Context(), "mem://orders")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	gateway := func() []sabir.NodeOption {
		system := actor.NewSystem(actor.Config{})
		orders := sabir.NewService("orders")
		// doc: repeat-handle
		grains := grain.New(system, grain.Config{Store: st}, orderKind) // the store that all nodes share
		placeOrder.Handle(orders, func(ctx context.Context, in PlaceOrder) (PlacedOrder, error) {
			return grain.Call[PlacedOrder](ctx, system, orderKind.Key(in.Key), in) // with callers who are known: Key(subject + " " + in.Key)
		})
		// end
		return []sabir.NodeOption{sabir.Serve(orders), system.Option(), grains.Option(), sabir.HTTP("127.0.0.1:0")}
	}
	nodes := sabirtest.Cluster(t, gateway(), gateway())
	post := func(node *sabir.Node, key, item string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+node.HTTPAddr()+"/orders", strings.NewReader(`{"item":"`+item+`"}`))
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", key)
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
		answer, err := client.Do(request)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Error(err)
		}
		return answer.StatusCode, string(body)
	}
	var answers [8]string
	var all sync.WaitGroup
	for i := range answers { // at once, by both
		all.Go(func() {
			status, body := post(nodes[i%2], "k-1", "lamp")
			if status != http.StatusOK {
				t.Errorf("%d %s", status, body)
			}
			answers[i] = body
		})
	}
	all.Wait()
	for _, body := range answers {
		if body != answers[0] {
			t.Errorf("two orders for one key: %s and %s", answers[0], body)
		}
	}
	var refused struct{ Name string }
	if status, body := post(nodes[0], "k-1", "rope"); status != http.StatusConflict || json.Unmarshal([]byte(body), &refused) != nil || refused.Name != "KeyReused" {
		t.Errorf("the key of another order: %d %s", status, body)
	}
	if _, body := post(nodes[1], "k-2", "lamp"); body == answers[0] {
		t.Errorf("another key has the same order: %s", body)
	}
}
