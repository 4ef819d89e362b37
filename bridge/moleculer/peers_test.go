package moleculer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/internal/brokers"
)

// byHand is a node that a test speaks for: it writes packets as implementations in other languages do.
type byHand struct {
	t     *testing.T
	conn  *natsgo.Conn
	topic string // the beginning of all
	id    string
}

func (a *place) byHand(id string) *byHand {
	a.t.Helper()
	conn, err := natsgo.Connect(a.broker.URL())
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(conn.Close)
	return &byHand{a.t, conn, "MOL-" + a.namespace + ".", id}
}

func (h *byHand) subscribe(topic string) *natsgo.Subscription {
	h.t.Helper()
	s, err := h.conn.SubscribeSync(h.topic + topic)
	if err = errors.Join(err, h.conn.Flush()); err != nil {
		h.t.Fatal(err)
	}
	return s
}

// receive waits for the next packet of a topic.
func (h *byHand) receive(from *natsgo.Subscription, packet any) {
	h.t.Helper()
	m, err := from.NextMsg(waitLimit)
	if err == nil {
		err = json.Unmarshal(m.Data, packet)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// send sends a packet of protocol 4 with the members, such as `"cpu":3`.
func (h *byHand) send(topic, members string) {
	h.t.Helper()
	if err := h.conn.Publish(h.topic+topic, []byte(`{"ver":"4","sender":"`+h.id+`",`+members+`}`)); err != nil {
		h.t.Fatal(err)
	}
}

// announced are the services in INFO, from the first that has the one of this name.
func (h *byHand) announced(from *natsgo.Subscription, name string) []map[string]json.RawMessage {
	h.t.Helper()
	for {
		var info struct {
			Services []map[string]json.RawMessage `json:"services"`
		}
		h.receive(from, &info)
		for _, s := range info.Services {
			if string(s["fullName"]) == `"`+name+`"` {
				return info.Services
			}
		}
	}
}

// moleculer-go ends with a panic where a service lacks one of them.
func TestEachServiceInINFOHasSettingsAndMetadata(t *testing.T) {
	t.Parallel()
	a := newPlace(t)
	h := a.byHand("other")
	infos := h.subscribe("INFO")
	a.node("go", []sabir.Servable{orders(), heard("mail", "user.*", make(chan string, 1))}, moleculer.Expose("**"))
	for _, s := range h.announced(infos, "v3.orders") {
		for _, member := range []string{"settings", "metadata", "actions", "events"} {
			if !bytes.HasPrefix(s[member], []byte("{")) {
				t.Errorf("the member %s of %s is %s, and no object", member, s["fullName"], s[member])
			}
		}
	}
}

// moleculer-go broadcasts so.
func TestAnEventWithAnEmptyListOfGroupsIsForAll(t *testing.T) {
	t.Parallel()
	a := newPlace(t)
	h := a.byHand("other")
	infos := h.subscribe("INFO")
	got := make(chan string, 1)
	a.node("go", []sabir.Servable{heard("mail", "user.*", got)}, moleculer.Expose("**"))
	h.announced(infos, "mail")
	h.send("EVENT.go", `"id":"1","event":"user.created","data":"Ada","broadcast":true,"groups":[]`)
	if text := next(t, got); text != "mail user.created Ada " {
		t.Errorf("the handler got %q", text)
	}
}

func TestABufferIsReadHoweverItsJSONIsWritten(t *testing.T) {
	t.Parallel()
	a := newPlace(t)
	h := a.byHand("other")
	infos, answers := h.subscribe("INFO"), h.subscribe("RES.other")
	a.node("go", []sabir.Servable{orders()}, moleculer.Expose("**"))
	h.announced(infos, "v3.orders")
	for language, params := range map[string]string{
		"JavaScript": `{"data":{"type":"Buffer","data":[1,2,255]}}`,
		"Python":     `{"data": {"type": "Buffer", "data": [1, 2, 255]}}`,
		"Go":         `{"data":{"data":[1,2,255],"type":"Buffer"}}`,
	} {
		h.send("REQ.go", `"id":"1","action":"v3.orders.bytes","params":`+params)
		var answer struct {
			Data  string          `json:"data"`
			Error json.RawMessage `json:"error"`
		}
		if h.receive(answers, &answer); answer.Data != fmt.Sprint([]byte{1, 2, 255}, time.Time{}.Unix()) {
			t.Errorf("as %s writes it: %q, %s", language, answer.Data, answer.Error)
		}
	}
}

// Nodes of pylecular listen neither to PING nor to DISCOVER in their name, so one that is taken for gone does not come back.
func TestANodeThatDoesNotListenToPingsIsNeitherGoneNorSilent(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	h := a.byHand("deaf")
	requests, beats := h.subscribe("REQ.deaf"), h.subscribe("HEARTBEAT")
	n := a.node("go", nil)
	h.send("INFO", `"instanceID":"i","seq":1,"services":[{"name":"deaf","actions":{"deaf.who":{"name":"deaf.who"}}}]`)
	if err := n.WaitFor(t.Context(), "deaf"); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		who, err := sabir.Call[string](t.Context(), n, "deaf.who", sabir.Empty{})
		if err == nil && who != "deaf" {
			err = errors.New("the answer is " + who)
		}
		answered <- err
	}()
	var request struct {
		ID string `json:"id"`
	}
	h.receive(requests, &request)
	for range 3 { // heartbeats come every two seconds, and pings of a node that has a call in flight every second
		h.receive(beats, &struct{}{})
	}
	for _, other := range n.Nodes() {
		if other.Silent {
			t.Errorf("%s counts as silent", other.ID)
		}
	}
	h.send("RES.go", `"id":"`+request.ID+`","success":true,"data":"deaf"`)
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
