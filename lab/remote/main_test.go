package main

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"

	"github.com/sabir-go/sabir/lab/child"
)

func TestEveryContenderBringsPayloadsBack(t *testing.T) {
	extra, err := json.Marshal(settings{Cluster: "lab-test", Tracking: true})
	if err != nil {
		t.Fatal(err)
	}
	address := func(t *testing.T) string {
		free, err := brokers.FreeAddress("tcp")
		if err != nil {
			t.Fatal(err)
		}
		return free
	}
	broker := func(kind brokers.Kind) func(*testing.T) string {
		return func(t *testing.T) string { return brokers.ForTest(t, kind).URL() }
	}
	for _, test := range []struct {
		name, row string
		address   func(*testing.T) string
	}{
		{"raw", "raw", address},
		{"raw, batched", "raw, batched", address},
		{"channels", "channels", func(*testing.T) string { return "fake" }},
		{"sabir mem", "sabir", func(*testing.T) string { return "mem://fake" }},
		{"sabir tcp", "sabir", func(t *testing.T) string { return "tcp://" + address(t) }},
		{"sabir nats", "sabir", broker(brokers.NATS)},
		{"sabir redis", "sabir", broker(brokers.Redis)},
		{"sabir mqtt", "sabir", broker(brokers.Mosquitto)},
		{"nats", string(brokers.NATS), broker(brokers.NATS)},
		{"nats, batched", string(brokers.NATS) + withBatches, broker(brokers.NATS)},
		{"redis", string(brokers.Redis), broker(brokers.Redis)},
		{"redis, batched", string(brokers.Redis) + withBatches, broker(brokers.Redis)},
		{"mqtt", string(brokers.Mosquitto), broker(brokers.Mosquitto)},
		{"mqtt, batched", string(brokers.Mosquitto) + withBatches, broker(brokers.Mosquitto)},
		{"amqp", string(brokers.RabbitMQ), func(t *testing.T) string { brokers.Slow(t); return broker(brokers.RabbitMQ)(t) }},
		{"sabir amqp", "sabir", func(t *testing.T) string { brokers.Slow(t); return broker(brokers.RabbitMQ)(t) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			j, err := start(child.Order{Role: "process", Row: test.row, Address: test.address(t), Callers: 5, Extra: extra})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Stop()
			for _, callers := range []string{"callers 1", "callers 5"} {
				if _, err := j.Answer(callers); err != nil {
					t.Fatal(err)
				}
				s, err := j.Measure(20 * time.Millisecond)
				if err != nil || s.Operations == 0 || s.Wrong > 0 {
					t.Errorf("%s: %d operations, %d wrong (%s), %v", callers, s.Operations, s.Wrong, s.Problem, err)
				}
			}
		})
	}
}

func TestAnotherPayloadThanTheOneSentIsNoticed(t *testing.T) {
	var before []byte
	late := checked(func(request []byte) ([]byte, error) {
		reply := before
		before = slices.Clone(request)
		return reply, nil
	}, 3)
	for range 2 {
		if late() == nil {
			t.Error("the answer to the call before is taken")
		}
	}
}

func TestOrdersThatMeanNothingAreRefused(t *testing.T) {
	for _, o := range []child.Order{{Row: "none"}, {Row: "raw", Extra: json.RawMessage("[")}} {
		if _, err := start(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	l := &load{do: make([]func() error, 2)}
	for _, word := range []string{"callers", "callers 0", "callers 3", "call 1"} {
		if _, err := l.answer(word); err == nil {
			t.Errorf("%q is taken", word)
		}
	}
}
