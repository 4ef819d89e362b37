package links_test

import (
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
)

// BenchmarkRawBatchedEcho is amqp091-go alone, with which BenchmarkBatchedEcho compares.
func BenchmarkRawBatchedEcho(b *testing.B) {
	address := brokers.ForTestShared(b, brokers.RabbitMQ).URL()
	const exchange = "benchmark"
	connect := func(key string, deliver func([]byte)) func(key string, message []byte) error {
		conn, err := amqp.Dial(address)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		channel, err := conn.Channel()
		if err != nil {
			b.Fatal(err)
		}
		if err := channel.ExchangeDeclare(exchange, "direct", false, true, false, false, nil); err != nil {
			b.Fatal(err)
		}
		queue, err := channel.QueueDeclare("", false, true, true, false, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := channel.QueueBind(queue.Name, key, exchange, false, nil); err != nil {
			b.Fatal(err)
		}
		deliveries, err := channel.Consume(queue.Name, "", true, true, false, false, nil)
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			for delivery := range deliveries {
				deliver(delivery.Body)
			}
		}()
		return func(key string, message []byte) error {
			return channel.PublishWithContext(b.Context(), exchange, key, false, false, amqp.Publishing{Body: message})
		}
	}
	transporttest.BatchedEcho(b, func(asked, answered func([]byte)) (ask, answer func([]byte) error) {
		asking := connect("answers", answered)
		answering := connect("questions", asked)
		return func(message []byte) error { return asking("questions", message) },
			func(message []byte) error { return answering("answers", message) }
	})
}
