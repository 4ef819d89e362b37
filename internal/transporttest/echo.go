package transporttest

import (
	"io"
	"net"
	"testing"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

const (
	echoFrames   = 25  // in one message
	echoRequest  = 677 // bytes of a frame
	echoResponse = 611
	echoUnderWay = 4 // messages: 100 callers
)

// BatchedEcho measures what a bus carries of the calls of 100 callers whose frames share messages: four messages are
// under way, of 25 frames of 677 bytes, and each is answered by one of 25 frames of 611 bytes. It reports requests/s, 25
// for each message.
//
// start makes two connections to the broker, one that asks and one that answers. asked must be called with each message
// that the answering one gets, and answered with each that the asking one gets; both return at once. ask and answer publish.
func BatchedEcho(b *testing.B, start func(asked, answered func(message []byte)) (ask, answer func(message []byte) error)) {
	b.Helper()
	free, waiting := make(chan struct{}, echoUnderWay), make(chan struct{}, echoUnderWay)
	ask, answer := start(func(message []byte) {
		if len(message) != echoFrames*echoRequest {
			b.Errorf("a question of %d bytes", len(message))
		}
		waiting <- struct{}{}
	}, func(message []byte) {
		if len(message) != echoFrames*echoResponse {
			b.Errorf("an answer of %d bytes", len(message))
		}
		free <- struct{}{}
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		response := make([]byte, echoFrames*echoResponse)
		for range waiting {
			if err := answer(response); err != nil {
				b.Errorf("answer: %v", err)
			}
		}
	}()
	for range echoUnderWay {
		free <- struct{}{}
	}
	request := make([]byte, echoFrames*echoRequest)
	b.ReportAllocs()
	for b.Loop() {
		<-free
		if err := ask(request); err != nil {
			b.Fatalf("ask: %v", err)
		}
	}
	for range echoUnderWay {
		<-free
	}
	b.ReportMetric(float64(b.N*echoFrames)/b.Elapsed().Seconds(), "requests/s")
	close(waiting)
	<-ended
}

// BenchmarkBus is [BatchedEcho] by a driver, at the address of a broker.
func BenchmarkBus(b *testing.B, address string, config transport.Config) {
	at, err := schemes.Parse(address)
	if err != nil {
		b.Fatal(err)
	}
	driver, ok := transports.Bus(at.Scheme)
	if !ok {
		b.Fatalf("no bus is registered for %s://", at.Scheme)
	}
	connect := func(subject string, deliver func([]byte)) transport.Broker {
		broker, err := driver.Connect(b.Context(), at, config, transport.BusEvents{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { broker.Close() })
		if err := broker.Subscribe(b.Context(), subject, deliver); err != nil {
			b.Fatal(err)
		}
		return broker
	}
	BatchedEcho(b, func(asked, answered func([]byte)) (ask, answer func([]byte) error) {
		asking := connect("benchmark.answers", answered)
		answering := connect("benchmark.questions", asked)
		return func(message []byte) error { return asking.Publish("benchmark.questions", message) },
			func(message []byte) error { return answering.Publish("benchmark.answers", message) }
	})
}

// AskBatches measures what a stream carries of the calls of 100 callers whose frames share writes, as [BatchedEcho] does for
// a bus: four batches are under way, of 25 frames of 677 bytes, and each is answered by 25 frames of 611 bytes. over is the
// side that asks; the other one runs [AnswerBatches]. It writes each batch by one Write and reads while it does. It reports
// requests/s, 25 for each batch.
func AskBatches(b *testing.B, over io.ReadWriter) {
	b.Helper()
	free, asked := make(chan struct{}, echoUnderWay), make(chan struct{}, echoUnderWay)
	for range echoUnderWay {
		free <- struct{}{}
	}
	var failure error // to be read when free is closed
	go func() {
		defer close(free)
		response := make([]byte, echoFrames*echoResponse)
		for range asked {
			if _, failure = io.ReadFull(over, response); failure != nil {
				return
			}
			free <- struct{}{}
		}
	}()
	request := make([]byte, echoFrames*echoRequest)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := <-free; !ok {
			b.Fatalf("read: %v", failure)
		}
		if _, err := over.Write(request); err != nil {
			b.Fatalf("write: %v", err)
		}
		asked <- struct{}{}
	}
	b.ReportMetric(float64(b.N*echoFrames)/b.Elapsed().Seconds(), "requests/s")
	close(asked)
	for range free {
	}
	if failure != nil {
		b.Fatalf("read: %v", failure)
	}
}

// AnswerBatches is the side that answers what [AskBatches] asks, each batch by one Write, until the stream ends.
func AnswerBatches(over io.ReadWriter) {
	request, response := make([]byte, echoFrames*echoRequest), make([]byte, echoFrames*echoResponse)
	for {
		if _, err := io.ReadFull(over, request); err != nil {
			return
		}
		if _, err := over.Write(response); err != nil {
			return
		}
	}
}

// BenchmarkStream is [AskBatches] over a transport's connection.
func BenchmarkStream(b *testing.B, listen string, config transport.Config) {
	AskBatches(b, benchmarkPeer(b, listen, config, func(peer net.Conn) { AnswerBatches(peer) }))
}
