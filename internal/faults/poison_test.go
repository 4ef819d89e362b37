//go:build unix

package faults_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/brokers"
)

// A message that kills the process of its consumer is dead-lettered after its attempts, and none of those that the
// process held with it does: each of them is handled, though its first attempt fails, and its second attempt is the second
// that was begun.
func TestAMessageThatKillsItsConsumerTakesNoOtherAlong(t *testing.T) {
	brokers.Slow(t)
	for _, kind := range []brokers.Kind{brokers.RabbitMQ, brokers.Redis, brokers.NATS} {
		t.Run(string(kind), func(t *testing.T) {
			if kind == brokers.RabbitMQ {
				brokers.Nightly(t)
			}
			t.Parallel()
			broker := brokers.ForTest(t, kind, brokers.Config{})
			node := sabir.NewNode(channel.Broker(broker.URL()), sabir.Logger(slog.New(slog.DiscardHandler)))
			if err := node.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := node.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			var good, bad []string
			for i := range 60 {
				id := strconv.Itoa(i)
				o := order{"good-" + id}
				if i == 10 || i == 30 {
					o = order{"bad-" + id}
					bad = append(bad, o.ID)
				} else {
					good = append(good, o.ID)
				}
				if _, err := poisonOrders.PublishWithID(t.Context(), node, o.ID, o); err != nil {
					t.Fatal(err)
				}
			}
			p := &poisoned{t: t, address: broker.URL(), handled: map[string]string{}}
			over := make(chan struct{})
			var life sync.WaitGroup
			life.Go(func() { p.live(over) })
			var dead []channel.DeadLetter
			settled := func() (err error) {
				dead, err = channel.DeadLetters(t.Context(), node, poisonOrders.Name()+".dead", 100)
				p.mu.Lock()
				defer p.mu.Unlock()
				if err == nil && len(dead)+len(p.handled) < len(good)+len(bad) {
					err = fmt.Errorf("%d dead letters and %d handled", len(dead), len(p.handled))
				}
				return err
			}
			for end := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) { // listing costs RabbitMQ much
				err := settled()
				if err == nil {
					break
				}
				if time.Now().After(end) {
					t.Errorf("not over yet: %v", err)
					break
				}
			}
			close(over)
			life.Wait()

			var ids []string
			for _, d := range dead {
				ids = append(ids, d.ID)
				t.Logf("dead: %s after %d attempts: %s", d.Data, d.Dead.Attempts, d.Dead.Reason)
			}
			t.Logf("%s: %d dead letters for %d bad messages, %d of %d good ones handled, %d processes killed", kind, len(dead), len(bad), len(p.handled), len(good), p.killed)
			if len(dead) != len(bad) {
				t.Errorf("%d dead letters, want those of the %d bad messages: %q", len(dead), len(bad), ids)
			}
			if got := slices.Sorted(maps.Keys(p.handled)); !slices.Equal(got, slices.Sorted(slices.Values(good))) {
				t.Errorf("handled %q", got)
			}
			for id, attempt := range p.handled {
				if attempt != "2" {
					t.Errorf("%s was handled in attempt %s, want 2", id, attempt)
				}
			}
		})
	}
}

// poisoned is a consumer that is started again whenever it has killed itself.
type poisoned struct {
	t       *testing.T
	address string
	killed  int

	mu      sync.Mutex
	handled map[string]string // the attempt, by message
}

func (p *poisoned) live(over <-chan struct{}) {
	for {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), poisonVariable+"="+p.address)
		output, err := command.StdoutPipe()
		if err != nil {
			p.t.Error(err)
			return
		}
		input, err := command.StdinPipe() // the process ends when this one does
		if err != nil {
			p.t.Error(err)
			return
		}
		if err := command.Start(); err != nil {
			p.t.Error(err)
			return
		}
		ended := make(chan struct{})
		go func() {
			select {
			case <-over:
				_ = command.Process.Kill() // it may have ended
			case <-ended:
			}
		}()
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			if words := strings.Fields(lines.Text()); len(words) == 3 && words[2] == "." { // a line that was cut short by a kill has no dot
				p.mu.Lock()
				p.handled[words[0]] = words[1]
				p.mu.Unlock()
			}
		}
		_ = command.Wait() // it was killed
		_ = input.Close()
		close(ended)
		select {
		case <-over:
			return
		default:
			p.killed++
		}
	}
}

// poisonVariable makes a process of the test binary a consumer, and the broker's address.
const poisonVariable = "SABIR_FAULTS_POISON"

var poisonOrders = channel.New[order]("faults.poison")

// bePoisoned is the main function of a process that handles good messages until a bad one kills it.
func bePoisoned(address string) int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // the test has ended
	}()
	say := saying(os.Stdout)
	s := sabir.NewService("billing")
	poisonOrders.ConsumeWith(s, channel.Consumer{AckWait: time.Second, Attempts: 3, FirstPause: 20 * time.Millisecond, MaxPause: 50 * time.Millisecond, MaxInFlight: 16}, func(ctx context.Context, o order) error {
		time.Sleep(rand.N(20 * time.Millisecond)) // work, of neighbours too
		if strings.HasPrefix(o.ID, "bad") {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal is there
		}
		d, _ := channel.DeliveryFromContext(ctx)
		if d.Attempt == 1 {
			return errors.New("the first attempt fails")
		}
		say("%s %d .\n", o.ID, d.Attempt)
		return nil
	})
	node := sabir.NewNode(channel.Broker(address), sabir.Serve(s), sabir.Logger(slog.New(slog.NewTextHandler(os.Stderr, nil))))
	if err := node.Start(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	select {}
}
