// Package integration has benchmarks of the root package that need the clients of brokers. They are not beside what they
// measure, because "go mod tidy" of a program that imports sabir downloads whatever the tests of package sabir import.
package integration

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/broker/amqp"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/brokers"
)

// These benchmarks compare channels with what the same client libraries do bare, against the same broker, with a document
// of 300 bytes. docs/channels.md has their figures.

type article struct {
	ID   int    `json:"id"`
	Name string `json:"name,omitempty"`
}

var quiet = slog.New(slog.DiscardHandler)

var benchParcel = article{ID: 7, Name: strings.Repeat("a article of rope and tar ", 11)}

var benchBrokers = []struct {
	name   string
	kind   brokers.Kind
	config brokers.Config
	raw    func(b *testing.B, address string) rawChannel
}{
	{"nats", brokers.NATS, brokers.Config{}, rawNATS},
	{"nats-synced", brokers.NATS, brokers.Config{Sync: true}, rawNATS},
	{"redis", brokers.Redis, brokers.Config{}, rawRedis},
	{"redis-synced", brokers.Redis, brokers.Config{Sync: true}, rawRedis},
	{"rabbitmq", brokers.RabbitMQ, brokers.Config{}, rawRabbitMQ},
}

// rawChannel is a client library with nothing around it.
type rawChannel struct {
	publish func() error      // returns when the broker keeps the message
	batch   func(n int) error // the same for n at once
	consume func(n int) error // handles n messages
}

const benchBatch = 256

func BenchmarkChannel(b *testing.B) {
	for _, at := range benchBrokers {
		b.Run(at.name, func(b *testing.B) {
			broker := brokers.ForTest(b, at.kind, at.config)
			raw := at.raw(b, broker.URL())
			c := channel.New[article]("bench")
			var handled atomic.Int64
			n := sabir.NewNode(sabir.Logger(quiet), channel.Broker(broker.URL()))
			if err := n.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := n.Stop(context.Background()); err != nil {
					b.Error(err)
				}
			}()
			values := make([]article, benchBatch)
			for i := range values {
				values[i] = benchParcel
			}
			ours := rawChannel{
				publish: func() error {
					_, err := c.Publish(b.Context(), n, benchParcel)
					return err
				},
				batch: func(count int) error {
					_, err := c.PublishAll(b.Context(), n, values[:count])
					return err
				},
			}
			ours.consume = func(count int) error {
				s := sabir.NewService("bench")
				enough := make(chan bool)
				want := handled.Load() + int64(count)
				c.ConsumeWith(s, channel.Consumer{MaxInFlight: benchBatch}, func(context.Context, article) error {
					if handled.Add(1) == want {
						close(enough)
					}
					return nil
				})
				if err := n.Add(b.Context(), s); err != nil {
					return err
				}
				<-enough
				return n.Remove(context.Background(), s)
			}
			if err := ours.publish(); err != nil { // makes the channel
				b.Fatal(err)
			}
			if err := ours.consume(1); err != nil { // makes the group
				b.Fatal(err)
			}
			for _, side := range []struct {
				name string
				rawChannel
			}{{"raw", raw}, {"sabir", ours}} {
				measure(b, side.name, side.rawChannel)
			}
		})
	}
}

func measure(b *testing.B, name string, c rawChannel) {
	rate := func(b *testing.B, count int) { b.ReportMetric(float64(count)/b.Elapsed().Seconds(), "msgs/s") }
	b.Run("publish-1/"+name, func(b *testing.B) {
		for b.Loop() {
			if err := c.publish(); err != nil {
				b.Fatal(err)
			}
		}
		rate(b, b.N)
	})
	b.Run("publish-100/"+name, func(b *testing.B) {
		b.SetParallelism(50) // of 2 processors each
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := c.publish(); err != nil {
					b.Error(err)
					return
				}
			}
		})
		rate(b, b.N)
	})
	b.Run("batch/"+name, func(b *testing.B) {
		for b.Loop() {
			if err := c.batch(benchBatch); err != nil {
				b.Fatal(err)
			}
		}
		rate(b, b.N*benchBatch)
	})
	b.Run("consume/"+name, func(b *testing.B) {
		// What the other benchmarks published is consumed too: at least so many are there.
		const enough = 5000
		for b.Loop() {
			b.StopTimer()
			for range enough/benchBatch + 1 {
				if err := c.batch(benchBatch); err != nil {
					b.Fatal(err)
				}
			}
			b.StartTimer()
			if err := c.consume(enough); err != nil {
				b.Fatal(err)
			}
		}
		rate(b, b.N*enough)
	})
}

func benchData(b *testing.B) []byte {
	data, err := json.Marshal(benchParcel)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func rawNATS(b *testing.B, address string) rawChannel {
	conn, err := nats.Connect(address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		b.Fatal(err)
	}
	stream, err := js.CreateStream(b.Context(), jetstream.StreamConfig{Name: "raw", Subjects: []string{"raw"}})
	if err != nil {
		b.Fatal(err)
	}
	consumer, err := stream.CreateConsumer(b.Context(), jetstream.ConsumerConfig{Durable: "raw", AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		b.Fatal(err)
	}
	data := benchData(b)
	return rawChannel{
		publish: func() error {
			_, err := js.Publish(b.Context(), "raw", data)
			return err
		},
		batch: func(n int) error {
			answers := make([]jetstream.PubAckFuture, n)
			for i := range answers {
				if answers[i], err = js.PublishAsync("raw", data); err != nil {
					return err
				}
			}
			for _, a := range answers {
				select {
				case <-a.Ok():
				case err := <-a.Err():
					return err
				}
			}
			return nil
		},
		consume: func(n int) error {
			done := make(chan bool)
			c, err := consumer.Consume(func(msg jetstream.Msg) {
				_ = msg.Ack()
				if n--; n == 0 {
					close(done)
				}
			}, jetstream.PullMaxMessages(benchBatch))
			if err != nil {
				return err
			}
			<-done
			c.Stop()
			<-c.Closed()
			return nil
		},
	}
}

func rawRedis(b *testing.B, address string) rawChannel {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{strings.TrimPrefix(address, "redis://")}, DisableCache: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.Close)
	if err := client.Do(b.Context(), client.B().XgroupCreate().Key("raw").Group("raw").Id("0").Mkstream().Build()).Error(); err != nil {
		b.Fatal(err)
	}
	data := rueidis.BinaryString(benchData(b))
	add := func() rueidis.Completed {
		return client.B().Xadd().Key("raw").Id("*").FieldValue().FieldValue("data", data).Build()
	}
	return rawChannel{
		publish: func() error { return client.Do(b.Context(), add()).Error() },
		batch: func(n int) error {
			var commands rueidis.Commands
			for range n {
				commands = append(commands, add())
			}
			for _, answer := range client.DoMulti(b.Context(), commands...) {
				if err := answer.Error(); err != nil {
					return err
				}
			}
			return nil
		},
		consume: func(n int) error {
			for n > 0 {
				found, err := client.Do(b.Context(), client.B().Xreadgroup().Group("raw", "raw").Count(benchBatch).Streams().Key("raw").Id(">").Build()).AsXRead()
				if err != nil {
					return err
				}
				var ids []string
				for _, entry := range found["raw"] {
					ids = append(ids, entry.ID)
				}
				if err := client.Do(b.Context(), client.B().Xack().Key("raw").Group("raw").Id(ids...).Build()).Error(); err != nil {
					return err
				}
				n -= len(ids)
			}
			return nil
		},
	}
}

func rawRabbitMQ(b *testing.B, address string) rawChannel {
	conn, err := amqp091.Dial(address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	open := func() *amqp091.Channel {
		ch, err := conn.Channel()
		if err != nil {
			b.Fatal(err)
		}
		return ch
	}
	ch := open()
	if _, err := ch.QueueDeclare("raw", true, false, false, false, amqp091.Table{"x-queue-type": "quorum"}); err != nil {
		b.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		b.Fatal(err)
	}
	message := amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: benchData(b)}
	batch := func(n int) error {
		waiting := make([]*amqp091.DeferredConfirmation, n)
		for i := range waiting {
			if waiting[i], err = ch.PublishWithDeferredConfirm("", "raw", false, false, message); err != nil {
				return err
			}
		}
		for _, w := range waiting {
			if _, err := w.WaitContext(b.Context()); err != nil {
				return err
			}
		}
		return nil
	}
	return rawChannel{
		publish: func() error {
			w, err := ch.PublishWithDeferredConfirm("", "raw", false, false, message)
			if err != nil {
				return err
			}
			_, err = w.WaitContext(b.Context())
			return err
		},
		batch: batch,
		consume: func(n int) error {
			ch := open()
			defer ch.Close()
			if err := ch.Qos(benchBatch, 0, false); err != nil {
				return err
			}
			deliveries, err := ch.Consume("raw", "", false, false, false, false, nil)
			if err != nil {
				return err
			}
			for d := range deliveries {
				if err := d.Ack(false); err != nil {
					return err
				}
				if n--; n == 0 {
					break
				}
			}
			return nil
		},
	}
}
