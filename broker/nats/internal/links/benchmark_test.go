package links_test

import (
	"testing"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

func BenchmarkBatchedEcho(b *testing.B) {
	transporttest.BenchmarkBus(b, brokers.ForTestShared(b, brokers.NATS).URL(), transport.Config{})
}

// BenchmarkEmbeddedBatchedEcho has both sides in one process, with one server.
func BenchmarkEmbeddedBatchedEcho(b *testing.B) {
	transporttest.BenchmarkBus(b, "nats://embedded:0", transport.Config{})
}

// BenchmarkRawBatchedEcho is nats.go alone, with which BenchmarkBatchedEcho compares.
func BenchmarkRawBatchedEcho(b *testing.B) {
	url := brokers.ForTestShared(b, brokers.NATS).URL()
	connect := func(subject string, deliver func([]byte)) *natsgo.Conn {
		conn, err := natsgo.Connect(url)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(conn.Close)
		if _, err := conn.Subscribe(subject, func(m *natsgo.Msg) { deliver(m.Data) }); err != nil {
			b.Fatal(err)
		}
		if err := conn.Flush(); err != nil {
			b.Fatal(err)
		}
		return conn
	}
	transporttest.BatchedEcho(b, func(asked, answered func([]byte)) (ask, answer func([]byte) error) {
		asking := connect("benchmark.answers", answered)
		answering := connect("benchmark.questions", asked)
		return func(message []byte) error { return asking.Publish("benchmark.questions", message) },
			func(message []byte) error { return answering.Publish("benchmark.answers", message) }
	})
}

// BenchmarkRequestReply is nats.go's own way to ask: 100 callers, a message for each request.
func BenchmarkRequestReply(b *testing.B) {
	url := brokers.ForTestShared(b, brokers.NATS).URL()
	asking, err := natsgo.Connect(url)
	if err != nil {
		b.Fatal(err)
	}
	defer asking.Close()
	answering, err := natsgo.Connect(url)
	if err != nil {
		b.Fatal(err)
	}
	defer answering.Close()
	response := make([]byte, 611)
	if _, err := answering.Subscribe("benchmark.requests", func(m *natsgo.Msg) { m.Respond(response) }); err != nil {
		b.Fatal(err)
	}
	if err := answering.Flush(); err != nil {
		b.Fatal(err)
	}
	b.SetParallelism(50) // for each of 2 processors
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		request := make([]byte, 677)
		for pb.Next() {
			if _, err := asking.Request("benchmark.requests", request, waitLimit); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
