package api_test

import (
	"reflect"
	"testing"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/schema"
)

type orderMade struct {
	ID    string `json:"id"`
	Price int    `json:"price,omitempty"`
}

type orderMadeNow struct {
	ID    int    `json:"id"`
	Buyer string `json:"buyer" validate:"required"`
}

// message describes an API with one message of that type.
func message(t *testing.T, m api.Message, typ reflect.Type) (a api.API) {
	t.Helper()
	side := schema.Input
	if m.Sent {
		side = schema.Output
	}
	var set schema.Set
	var err error
	if m.Type, err = set.OfCall(typ, side); err != nil {
		t.Fatal(err)
	}
	a.AddMessages([]api.Message{m}, set.Defs)
	return a
}

func TestAMessageIsComparedAsTheInputOrTheOutputThatItIs(t *testing.T) {
	event := api.Message{Kind: "event", Name: "orders.made", Service: "mail", Group: "mail"}
	before, after := reflect.TypeFor[orderMade](), reflect.TypeFor[orderMadeNow]()
	want(t, message(t, event, before), message(t, event, before))
	want(t, message(t, event, before), message(t, event, after),
		`BREAKING event orders.made in mail: the payload's /id is integer instead of string.`,
		`BREAKING event orders.made in mail: the payload's /price is not read any more.`,
		`BREAKING event orders.made in mail: the payload's /buyer is new and required.`)
	event.Sent, event.Group = true, ""
	want(t, message(t, event, before), message(t, event, after),
		`BREAKING event orders.made of mail: the payload's /id is integer instead of string.`,
		`BREAKING event orders.made of mail: the payload's /price is gone.`,
		`event orders.made of mail: the payload's /buyer is new.`)
	queue := api.Message{Kind: "channel", Name: "mails", Service: "mail", Group: "senders"}
	want(t, message(t, queue, before), message(t, queue, after),
		`BREAKING channel mails in mail, group senders: the payload's /id is integer instead of string.`,
		`BREAKING channel mails in mail, group senders: the payload's /price is not read any more.`,
		`BREAKING channel mails in mail, group senders: the payload's /buyer is new and required.`)
}

func TestMessagesThatComeAndGo(t *testing.T) {
	typ := reflect.TypeFor[orderMade]()
	received := message(t, api.Message{Kind: "event", Name: "orders.*", Service: "mail", Group: "mail"}, typ)
	sent := message(t, api.Message{Kind: "channel", Name: "mails", Service: "orders", Sent: true}, typ)
	want(t, received, sent, `BREAKING event orders.* in mail is not received any more.`, `channel mails of orders is new.`)
	want(t, sent, received, `event orders.* in mail is new.`, `BREAKING channel mails of orders is not sent any more.`)
	if changes := api.Diff(sent, received); changes[0].Event != "orders.*" || changes[1].Channel != "mails" || changes[1].Action != "" {
		t.Errorf("%+v", changes)
	}
	want(t, api.API{}, sent)
	want(t, sent, api.API{}, `Events and channels are not compared: the new description has none, as those over HTTP.`)
}

func TestOneMessageOfSeveralNodesIsThereOnce(t *testing.T) {
	m := api.Message{Kind: "event", Name: "orders.made", Service: "mail", Group: "mail"}
	a := message(t, m, reflect.TypeFor[orderMade]())
	types := len(a.Types)
	a.AddMessages([]api.Message{m}, nil)
	if len(a.Messages) != 1 || a.Messages[0].Type == nil || len(a.Types) != types {
		t.Errorf("%+v", a)
	}
}
