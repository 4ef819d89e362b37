package moleculer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/errname"
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
	a.node("go", []sabir.Servable{orders(), heard("mail", "user.*", make(chan string, 1))}, moleculer.Config{Expose: []string{"**"}})
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
	a.node("go", []sabir.Servable{heard("mail", "user.*", got)}, moleculer.Config{Expose: []string{"**"}})
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
	a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"**"}})
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
	n := a.node("go", nil, moleculer.Config{})
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

// JavaScript's programs may give what they like as requestID, timeout and caller, and as ids with the setting uidGenerator; Moleculer's nodes pass it on. The packets
// were dropped, and their callers waited for their time limits.
func TestMembersOfAnotherKindThanMoleculersOwnAreTaken(t *testing.T) {
	t.Parallel()
	a := newPlace(t)
	h := a.byHand("other")
	infos, answers := h.subscribe("INFO"), h.subscribe("RES.other")
	got := make(chan string, 1)
	a.node("go", []sabir.Servable{orders(), heard("mail", "user.*", got)}, moleculer.Config{Expose: []string{"**"}})
	h.announced(infos, "v3.orders")
	for members, want := range map[string]string{
		`"id":7`: `7 {"limited":false,"requestID":""}`,
		`"id":"a","requestID":7,"caller":{},"parentID":8`:          `"a" {"limited":false,"requestID":"7"}`,
		`"id":"d","stream":0`:                                      `"d" {"limited":false,"requestID":""}`,
		`"id":"b","timeout":"60000"`:                               `"b" {"limited":true,"requestID":""}`,
		`"id":"c","timeout":"soon","requestID":"cut \ud83d","x":0`: `"c" {"limited":false,"requestID":"cut ` + "\ufffd" + `"}`,
	} {
		h.send("REQ.go", `"action":"v3.orders.info",`+members)
		var answer struct {
			ID   json.RawMessage
			Data struct {
				Limited   bool   `json:"limited"`
				RequestID string `json:"requestID"`
			}
		}
		h.receive(answers, &answer)
		if data, err := json.Marshal(answer.Data); string(answer.ID)+" "+string(data) != want {
			t.Errorf("%s is answered with %s %s, %v", members, answer.ID, data, err)
		}
	}
	h.send("EVENT.go", `"id":7,"requestID":8,"event":"user.created","data":"Ada"`)
	if text := next(t, got); text != "mail user.created Ada " {
		t.Errorf("the handler got %q", text)
	}
}

func TestATextThatWasCutWithinACharacterIsRead(t *testing.T) {
	t.Parallel()
	a := newPlace(t)
	h := a.byHand("other")
	infos, answers := h.subscribe("INFO"), h.subscribe("RES.other")
	a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"**"}})
	h.announced(infos, "v3.orders")
	for _, members := range []string{`"params":"cut \ud83d"`, `"params":"cut \ud83d","headers":{"a":1}`} {
		h.send("REQ.go", `"id":"1","action":"v3.orders.echo",`+members)
		var answer struct {
			Data  string
			Error json.RawMessage
		}
		if h.receive(answers, &answer); answer.Data != "cut \ufffd" {
			t.Errorf("%s is answered with %q, %s", members, answer.Data, answer.Error)
		}
	}
}

// What a program throws need not be an error: the answer was dropped, and the call ended at its time limit.
func TestWhateverAMoleculerHandlerThrowsEndsTheCall(t *testing.T) {
	t.Parallel()
	a := newPlace(t)
	h := a.byHand("other")
	requests := h.subscribe("REQ.other")
	n := a.node("go", nil, moleculer.Config{})
	h.send("INFO", `"instanceID":"i","seq":1,"services":[{"name":"other","description":["of","lines"],"actions":{"other.fail":{"name":"other.fail"}}}]`)
	if err := n.WaitFor(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	for thrown, want := range map[string]string{
		`{"name":"Error","message":{"code":418,"message":"tea"}}`: `HandlerFailed: {"code":418,"message":"tea"}`,
		`{"name":7,"message":"m","type":5,"retryable":"yes"}`:     `5: m`,
		`{"message":"cut \ud83d"}`:                                "HandlerFailed: cut \ufffd",
		`"text"`:                                                  `HandlerFailed: "text"`,
	} {
		ended := make(chan error, 1)
		go func() {
			_, err := sabir.Call[any](t.Context(), n, "other.fail", sabir.Empty{})
			ended <- err
		}()
		var request struct {
			ID string `json:"id"`
		}
		h.receive(requests, &request)
		h.send("RES.go", `"id":"`+request.ID+`","success":false,"error":`+thrown)
		if err := <-ended; err == nil || err.Error() != want {
			t.Errorf("%s is the error %v", thrown, err)
		}
	}
}

// Whoever waits for a packet that cannot be read waited for its time limit.
func TestAPacketThatCannotBeReadEndsItsCall(t *testing.T) {
	t.Parallel()
	a := newPlace(t)
	h := a.byHand("other")
	infos, requests, answers := h.subscribe("INFO"), h.subscribe("REQ.other"), h.subscribe("RES.other")
	n := a.node("go", []sabir.Servable{orders(), streams()}, moleculer.Config{Expose: []string{"**"}})
	h.announced(infos, "v3.orders")
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	refused := func() {
		t.Helper()
		var answer struct {
			ID    string
			Error struct{ Code int }
		}
		if h.receive(answers, &answer); answer.ID != "1" || answer.Error.Code != 422 {
			t.Errorf("the answer is %+v", answer)
		}
	}
	h.send("REQ.go", `"id":"1","action":"v3.orders.echo","params":`+deep+`,"headers":{"a":1}`)
	refused()
	h.send("REQ.go", `"id":"1","action":"streams.upper","stream":true,"seq":0,"params":null,"meta":{}`)
	h.send("REQ.go", `"id":"1","action":"streams.upper","stream":true,"seq":1,"params":`+deep)
	refused()
	h.send("INFO", `"instanceID":"i","seq":1,"services":[{"name":"other","actions":{"other.fail":{"name":"other.fail"}}}]`)
	if err := n.WaitFor(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := sabir.Call[any](t.Context(), n, "other.fail", sabir.Empty{})
		ended <- err
	}()
	var request struct {
		ID string `json:"id"`
	}
	h.receive(requests, &request)
	h.send("RES.go", `"id":"`+request.ID+`","success":false,"error":{"data":`+deep+`}`)
	if err := <-ended; sabir.AsError(err).Name != errname.BadOutput {
		t.Errorf("the call ended with %v", err)
	}
}

// moleculer-web takes the status of an answer from meta, whichever handler set it.
func TestMetaForTheGatewayPassesTheNode(t *testing.T) {
	t.Parallel()
	a := newPlace(t)
	h := a.byHand("other")
	infos, requests, answers := h.subscribe("INFO"), h.subscribe("REQ.other"), h.subscribe("RES.other")
	n := a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"**"}})
	h.announced(infos, "v3.orders")
	h.send("INFO", `"instanceID":"i","seq":1,"services":[{"name":"other","actions":{"other.create":{"name":"other.create"}}}]`)
	if err := n.WaitFor(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	h.send("REQ.go", `"id":"1","action":"v3.orders.relay","params":"other.create","meta":{"user":"Ada","$params":1}`)
	var request struct {
		ID string `json:"id"`
	}
	h.receive(requests, &request)
	h.send("RES.go", `"id":"`+request.ID+`","success":true,"data":"made","meta":{"user":"Ada","$statusCode":201,"$location":"/1","$params":2,"sabir.principal":"forged"}`)
	var answer struct{ Meta json.RawMessage }
	if h.receive(answers, &answer); string(answer.Meta) != `{"$location":"/1","$statusCode":201}` {
		t.Errorf("meta is %s", answer.Meta)
	}
}
