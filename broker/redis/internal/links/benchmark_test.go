package links_test

import (
	"context"
	"testing"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

func BenchmarkBatchedEcho(b *testing.B) {
	transporttest.BenchmarkBus(b, brokers.ForTestShared(b, brokers.Redis).URL(), transport.Config{})
}

// BenchmarkRawBatchedEcho is rueidis alone, with which BenchmarkBatchedEcho compares.
func BenchmarkRawBatchedEcho(b *testing.B) {
	server := brokers.ForTestShared(b, brokers.Redis)
	connect := func(channel string, deliver func([]byte)) func(channel string, message []byte) error {
		client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr()}, DisableCache: true})
		if err != nil {
			b.Fatal(err)
		}
		subscriber, cancel := client.Dedicate()
		subscriber.SetPubSubHooks(rueidis.PubSubHooks{OnMessage: func(m rueidis.PubSubMessage) { deliver([]byte(m.Message)) }})
		if err := subscriber.Do(b.Context(), subscriber.B().Subscribe().Channel(channel).Build()).Error(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			cancel()
			client.Close()
		})
		return func(channel string, message []byte) error {
			return client.Do(context.Background(), client.B().Publish().Channel(channel).Message(rueidis.BinaryString(message)).Build()).Error()
		}
	}
	transporttest.BatchedEcho(b, func(asked, answered func([]byte)) (ask, answer func([]byte) error) {
		asking := connect("benchmark.answers", answered)
		answering := connect("benchmark.questions", asked)
		return func(message []byte) error { return asking("benchmark.questions", message) },
			func(message []byte) error { return answering("benchmark.answers", message) }
	})
}
