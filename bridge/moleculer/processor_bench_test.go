package moleculer_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/processor"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

const (
	// loadVariable makes the test binary the Moleculer node that calls and is called: what it does is not in the processor time of the benchmark.
	loadVariable = "SABIR_MOLECULER_LOAD"
	// loadInFlight is the number of calls that are under way.
	loadInFlight = 100
	// loadThinks is the time that the load takes for each call, about that of a Moleculer node: in it the benchmark's side is idle.
	loadThinks = 20 * time.Microsecond
)

type benchmarkNumber struct {
	A int `json:"a"`
}

func echoNumber(_ context.Context, in benchmarkNumber) (benchmarkNumber, error) { return in, nil }

// BenchmarkServeProcessor is the processor time of a node that a Moleculer node calls over NATS, in cpu-ns/op, and of what a process without a bridge takes
// for as many messages of these sizes: the transport's broker, and nats.go alone.
func BenchmarkServeProcessor(b *testing.B) {
	b.Run("bridge", func(b *testing.B) {
		broker := brokers.ForTestShared(b, brokers.NATS).URL()
		service := sabir.NewService("echo")
		sabir.Handle(service, "reply", echoNumber)
		startBenchmarked(b, sabir.Serve(service), moleculer.Bridge(moleculer.Config{Address: broker, Namespace: "bench", Expose: []string{"echo.*"}}))
		calledBy(b, startLoad(b, broker))
	})
	answer := []byte(`{"ver":"5","sender":"server","id":"2b9a5c5e-7b0d-4a51-9d4a-6f7f3a3b1c2d","headers":{},"success":true,"data":{"a":1234},"meta":{}}`)
	b.Run("broker", func(b *testing.B) {
		at, err := url.Parse(brokers.ForTestShared(b, brokers.NATS).URL())
		if err != nil {
			b.Fatal(err)
		}
		bus, _ := transports.Bus("nats")
		broker, err := bus.Connect(b.Context(), at, transport.Config{}, transport.BusEvents{})
		if err != nil {
			b.Fatal(err)
		}
		defer broker.Close()
		if err := broker.Subscribe(b.Context(), "MOL-bench.REQ.server", func([]byte) { broker.Publish("MOL-bench.RES.load", answer) }); err != nil {
			b.Fatal(err)
		}
		calledBy(b, startLoad(b, at.String()))
	})
	b.Run("nats.go", func(b *testing.B) {
		at := brokers.ForTestShared(b, brokers.NATS).URL()
		conn, err := natsgo.Connect(at)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Subscribe("MOL-bench.REQ.server", func(*natsgo.Msg) { conn.Publish("MOL-bench.RES.load", answer) }); err != nil {
			b.Fatal(err)
		}
		if err := conn.Flush(); err != nil {
			b.Fatal(err)
		}
		calledBy(b, startLoad(b, at))
	})
}

// BenchmarkCallProcessor is the processor time of a node that calls a Moleculer node over NATS, in cpu-ns/op.
func BenchmarkCallProcessor(b *testing.B) {
	broker := brokers.ForTestShared(b, brokers.NATS).URL()
	node := startBenchmarked(b, moleculer.Bridge(moleculer.Config{Address: broker, Namespace: "bench"}))
	startLoad(b, broker)
	if err := node.WaitFor(b.Context(), "load"); err != nil {
		b.Fatal(err)
	}
	reply := sabir.Bind[benchmarkNumber, benchmarkNumber](node, "load.reply")
	b.SetParallelism(loadInFlight / 2) // for each of 2 processors
	b.ReportAllocs()
	b.ResetTimer()
	before := processor.Seconds()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if got, err := reply(context.Background(), benchmarkNumber{1234}); err != nil || got.A != 1234 {
				b.Errorf("got %v, %v", got, err)
				return
			}
		}
	})
	b.ReportMetric((processor.Seconds()-before)*1e9/float64(b.N), "cpu-ns/op")
}

func startBenchmarked(b *testing.B, options ...sabir.NodeOption) *sabir.Node {
	b.Helper()
	node := sabir.NewNode(append(options, sabir.NodeID("server"), sabir.Logger(slog.New(slog.DiscardHandler)))...)
	if err := node.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { node.Stop(context.Background()) })
	return node
}

// calledBy has the load make as many calls as the benchmark asks for.
func calledBy(b *testing.B, order func(line string)) {
	order("call 1000") // the other side knows the load, and its goroutines are there
	b.ReportAllocs()
	b.ResetTimer()
	before := processor.Seconds()
	order(fmt.Sprint("call ", b.N))
	b.ReportMetric((processor.Seconds()-before)*1e9/float64(b.N), "cpu-ns/op")
}

// startLoad starts the load, which takes orders and returns when they are done.
func startLoad(b *testing.B, broker string) (order func(line string)) {
	b.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestTheLoadOfBenchmarks$", "-test.v=false")
	command.Env = append(os.Environ(), loadVariable+"="+broker)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		command.Wait()
	})
	lines := bufio.NewScanner(out)
	order = func(line string) {
		fmt.Fprintln(in, line)
		if !lines.Scan() || lines.Text() != "done" {
			b.Fatalf("the load said %q", lines.Text())
		}
	}
	order("begin")
	return order
}

// TestTheLoadOfBenchmarks is the process of startLoad.
func TestTheLoadOfBenchmarks(t *testing.T) {
	broker := os.Getenv(loadVariable)
	if broker == "" {
		return
	}
	at, err := url.Parse(broker)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	l := &load{conn: c, out: []byte("CONNECT {\"verbose\":false}\r\nSUB MOL-bench.> 1\r\nPING\r\n"), done: make(chan bool, 1), left: make(chan int, 1)}
	ended := make(chan error, 1)
	go func() { ended <- l.run() }()
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		if n, call := strings.CutPrefix(orders.Text(), "call "); call {
			count, _ := strconv.Atoi(n)
			l.left <- count
			c.SetReadDeadline(time.Now()) // wakes the reader
		}
		select {
		case <-l.done:
			fmt.Println("done")
		case err := <-ended:
			t.Fatal(err)
		}
	}
	c.Close()
	<-ended
}

// load speaks NATS by itself, so that it takes as little as it can and writes what it has read at once, as Node does.
type load struct {
	conn   net.Conn
	out    []byte
	done   chan bool
	left   chan int
	toSend int
	toCome int
	begun  bool
}

const loadRequest = `{"id":"2b9a5c5e-7b0d-4a51-9d4a-6f7f3a3b1c2d","action":"echo.reply","params":{"a":1234},"meta":{},"headers":{},"timeout":null,"level":1,"tracing":null,"parentID":null,` +
	`"requestID":"2b9a5c5e-7b0d-4a51-9d4a-6f7f3a3b1c2d","caller":null,"stream":false,"ver":"5","sender":"load"}`

const loadInfo = `{"services":[{"name":"load","fullName":"load","settings":{},"metadata":{},"actions":{"load.reply":{"name":"load.reply","rawName":"reply"}},"events":{}}],"ipList":[],"hostname":"h",` +
	`"client":{"type":"nodejs","version":"0.15.2","langVersion":"v20"},"config":{},"instanceID":"i","metadata":{},"seq":2,"ver":"5","sender":"load"}`

func (l *load) publish(subject, packet string) {
	l.out = fmt.Appendf(l.out, "PUB MOL-bench.%s %d\r\n%s\r\n", subject, len(packet), packet)
}

func (l *load) run() error {
	r := bufio.NewReaderSize(l.conn, 64<<10)
	for {
		if r.Buffered() == 0 {
			if _, err := l.conn.Write(l.out); err != nil {
				return err
			}
			l.out = l.out[:0]
		}
		line, err := r.ReadSlice('\n')
		if e, ok := err.(net.Error); ok && e.Timeout() {
			l.conn.SetReadDeadline(time.Time{})
			l.toSend = <-l.left
			l.toCome = l.toSend
			for range min(loadInFlight, l.toSend) {
				l.call()
			}
			continue
		}
		if err != nil {
			return err
		}
		fields := strings.Fields(string(line))
		switch fields[0] {
		case "PONG":
			l.publish("INFO", loadInfo)
			l.begun = true
			l.done <- true
		case "PING":
			l.out = append(l.out, "PONG\r\n"...)
		case "MSG":
			size, err := strconv.Atoi(fields[len(fields)-1])
			if err != nil {
				return err
			}
			packet := make([]byte, size+2)
			if _, err := io.ReadFull(r, packet); err != nil {
				return err
			}
			l.take(strings.TrimPrefix(fields[1], "MOL-bench."), packet[:size])
		}
	}
}

func (l *load) call() {
	l.toSend--
	l.publish("REQ.server", loadRequest)
}

// take answers a packet, or makes the next call.
func (l *load) take(topic string, packet []byte) {
	switch topic {
	case "RES.load":
		think()
		if !bytes.Contains(packet, []byte(`"data":{"a":1234}`)) {
			panic(string(packet))
		}
		if l.toCome--; l.toCome == 0 {
			l.done <- true
		}
		if l.toSend > 0 {
			l.call()
		}
	case "REQ.load":
		think()
		_, id, _ := bytes.Cut(packet, []byte(`"id":"`))
		l.publish("RES.server", `{"id":"`+string(id[:36])+`","success":true,"data":{"a":1234},"meta":{},"headers":{},"ver":"5","sender":"load"}`)
	case "DISCOVER", "DISCOVER.load":
		l.publish("INFO", loadInfo)
	case "PING.load":
		l.publish("PONG.server", `{"time":1,"arrived":1,"id":"look","ver":"5","sender":"load"}`)
	}
}

func think() {
	for until := time.Now().Add(loadThinks); time.Now().Before(until); {
	}
}
