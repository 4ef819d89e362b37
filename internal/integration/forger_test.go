package integration

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/transport"
)

// payments is two nodes of a cluster, of which one calls an action of the other.
type payments struct {
	payer, bank *sabir.Node
	log         *lockedBuffer // of the bank

	mu   sync.Mutex
	paid []string
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func startPayments(t *testing.T, address, name string, options ...cluster.Option) *payments {
	t.Helper()
	p := &payments{log: &lockedBuffer{}}
	service := sabir.NewService("bank")
	sabir.Handle(service, "pay", func(_ context.Context, to string) (string, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.paid = append(p.paid, to)
		return "paid " + to, nil
	})
	start := func(id string, log slog.Handler, more ...sabir.NodeOption) *sabir.Node {
		node, stop, err := run(t.Context(), append(more, sabir.NodeID(id), sabir.Logger(slog.New(log)),
			sabir.Join(address, append([]cluster.Option{cluster.Config{Name: name}}, options...)...))...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		return node
	}
	p.bank = start("bank", slog.NewTextHandler(p.log, nil), sabir.Serve(service))
	p.payer = start("payer", slog.DiscardHandler)
	return p
}

// pay calls the action and holds that its answer is the right one.
func (p *payments) pay(t *testing.T, to string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var answer string
	if err := until(ctx, func() (err error) {
		answer, err = sabir.Call[string](ctx, p.payer, "bank.pay", to)
		return err
	}); err != nil || answer != "paid "+to {
		t.Fatalf("the payment to %s is answered with %q, %v", to, answer, err)
	}
}

func (p *payments) list() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.paid)
}

// forger has a login at the broker, as a tenant beside the cluster, and no cluster key. It gets what is sent to the nodes' inboxes.
type forger struct {
	t      *testing.T
	broker transport.Broker
	inbox  string // the bank's

	mu  sync.Mutex
	got [][]byte // to the bank
}

func newForger(t *testing.T, address string, p *payments) *forger {
	t.Helper()
	at, err := schemes.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	driver, _ := transports.Bus(at.Scheme)
	f := &forger{t: t}
	if f.broker, err = driver.Connect(t.Context(), at, transport.Config{Keyed: true}, transport.BusEvents{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.broker.Close() })
	for _, node := range p.payer.Nodes() {
		at, err := url.Parse(node.Addr)
		if err != nil {
			t.Fatal(err)
		}
		inbox := at.Fragment
		if node.ID == "bank" {
			f.inbox = inbox
		}
		if err := f.broker.Subscribe(t.Context(), inbox, func(message []byte) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if inbox == f.inbox {
				f.got = append(f.got, message)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *forger) messages() [][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.got)
}

func (f *forger) publish(message []byte) {
	f.t.Helper()
	if err := f.broker.Publish(f.inbox, message); err != nil {
		f.t.Fatal(err)
	}
}

// sessionsOf returns the numbers of the sessions by which stream bytes were sent to the bank in the messages from one on.
func (f *forger) sessionsOf(from int) map[string]bool {
	all := map[string]bool{}
	for _, message := range f.messages()[from:] {
		if message[0]&0x7f == 4 {
			all[string(message[1:17])] = true
		}
	}
	return all
}

// lastData waits for the packet with a payment, which is the last that holds bytes of the stream and is as long as one.
func (f *forger) lastData(after int) []byte {
	f.t.Helper()
	var found []byte
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	if err := until(ctx, func() error {
		for _, message := range f.messages()[after:] {
			if message[0]&0x7f == 4 && len(message) > 60 {
				found = message
			}
		}
		if found == nil {
			return fmt.Errorf("no payment among %d messages", len(f.messages()))
		}
		return nil
	}); err != nil {
		f.t.Fatal(err)
	}
	return found
}

// next is the packet that follows in the stream, with the same bytes and another receiver of the money.
func next(packet []byte) []byte {
	rest := packet[17:]
	at, size := binary.Uvarint(rest)
	if size <= 0 {
		at, size = 0, 0
	}
	rest = rest[size:]
	taken, size := binary.Uvarint(rest)
	if size <= 0 {
		taken, size = 0, 0
	}
	text := bytes.ReplaceAll(bytes.Clone(rest[size:]), []byte("to-Alice"), []byte("MALLORY!"))
	return forgedPacket(packet[0]&0x7f, packet, at+uint64(len(text)), taken, text)
}

// forgedPacket makes a packet for the session of another one, in the direction of that: the top bit of the first byte says which side dialled.
func forgedPacket(kind byte, like []byte, at, taken uint64, text []byte) []byte {
	packet := append([]byte{like[0]&0x80 | kind}, like[1:17]...)
	packet = binary.AppendUvarint(packet, at)
	packet = binary.AppendUvarint(packet, taken)
	return append(packet, text...)
}

var forgedBrokers = []struct {
	name string
	kind brokers.Kind
}{{"nats", brokers.NATS}, {"redis", brokers.Redis}, {"mqtt", brokers.Mosquitto}, {"amqp", brokers.RabbitMQ}}

// TestATenantOfTheBrokerWithoutTheKeyRunsNoHandlerAndEndsNoSession plays a tenant who copies a session's number and offset, and
// publishes packets into it.
func TestATenantOfTheBrokerWithoutTheKeyRunsNoHandlerAndEndsNoSession(t *testing.T) {
	for _, of := range forgedBrokers {
		t.Run(of.name, func(t *testing.T) {
			address := brokers.ForTestShared(t, of.kind).URL()
			p := startPayments(t, address, "forged", cluster.Config{Key: secret.New("the key of the cluster, for tests")})
			f := newForger(t, address, p)
			calls := 0
			pay := func() {
				calls++
				p.pay(t, fmt.Sprintf("to-Alice-%03d-%s", calls, strings.Repeat("x", 100)))
			}
			pay()
			begun := time.Now()
			attacked := map[string]bool{} // sessions, of which there are two if both nodes dialled
			for round := range 5 {
				seen := len(f.messages())
				pay()
				packet := f.lastData(seen)
				if bytes.Contains(packet, []byte("Alice")) {
					t.Fatal("the payment can be read at the broker")
				}
				attacked[string(packet[1:17])] = true
				changed := bytes.Clone(packet)
				changed[len(changed)-1] ^= 1
				for _, message := range slices.Concat([][]byte{next(packet), changed, packet,
					forgedPacket(4, packet, uint64(round), 0, []byte("MALLORY!")),
					forgedPacket(5, packet, 1<<40, 1<<40, nil),
					forgedPacket(8, packet, 0, 0, []byte("stranger")),
					forgedPacket(9, packet, 0, 0, nil),
					forgedPacket(1, packet, 0, 0, []byte("stranger")),
				}, f.messages()) {
					f.publish(message)
				}
				pay()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := until(ctx, func() error {
				if !strings.Contains(p.log.String(), "refused: ") {
					return fmt.Errorf("nothing is logged")
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
			forged := len(f.messages())
			if err := until(ctx, func() error {
				pay()
				for session := range attacked {
					if !f.sessionsOf(forged)[session] {
						return fmt.Errorf("nothing comes over session %x any more", session)
					}
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
			if n := p.bank.Info().Refused.Forged; n == 0 {
				t.Error("nothing is counted")
			}
			for _, to := range p.list() {
				if strings.Contains(to, "MALLORY") {
					t.Errorf("a handler ran for the forger: %q", to)
				}
			}
			if n := len(p.list()); n != calls {
				t.Errorf("%d payments were made in %d calls", n, calls)
			}
			if lines, most := strings.Count(p.log.String(), "refused: "), int(time.Since(begun)/time.Second)+2; lines > most {
				t.Errorf("%d lines are logged in %v:\n%s", lines, time.Since(begun), p.log)
			}
		})
	}
}

// Without a key the same forger runs a handler and ends a session, which shows that the test above has one that can do something.
func TestWithoutAKeyATenantOfTheBrokerRunsHandlersAndEndsSessions(t *testing.T) {
	address := brokers.ForTestShared(t, brokers.NATS).URL()
	p := startPayments(t, address, "open")
	f := newForger(t, address, p)
	payment := "to-Alice-" + strings.Repeat("x", 100)
	for range 6 {
		p.pay(t, payment) // what the first ones declare, on either link, is not declared again
	}
	before := len(f.messages())
	p.pay(t, payment)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := until(ctx, func() error {
		f.publish(next(f.lastData(before)))
		for _, to := range p.list() {
			if strings.Contains(to, "MALLORY") {
				return nil
			}
		}
		return fmt.Errorf("the handler ran for %q alone", p.list())
	}); err != nil {
		t.Error(err)
	}
	if err := until(ctx, func() error {
		before := len(f.messages())
		p.pay(t, payment)
		f.publish(forgedPacket(9, f.lastData(before), 0, 0, nil)) // a reset, of one session of perhaps two
		if !strings.Contains(p.log.String(), `msg="link lost"`) {
			return errors.New("the sessions have not ended")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
