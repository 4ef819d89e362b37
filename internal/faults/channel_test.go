//go:build unix

package faults_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/broker/amqp"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/brokers"
)

// chaosTime is the time for which publishers, consumers and the broker are killed repeatedly.
var chaosTime = flag.Duration("chaos", 15*time.Second, "how long each broker's channels are put under fire")

// A message that was acknowledged to its publisher is never lost: every group handles it at least once, although
// publishers, consumers and the broker are killed at random, by SIGKILL, while it is on its way.
func TestAcknowledgedMessagesSurviveKillsOfPublishersConsumersAndTheBroker(t *testing.T) {
	brokers.Slow(t)
	for _, test := range []struct {
		kind   brokers.Kind
		config brokers.Config
		pause  time.Duration // from one kill of the broker to the next, in the middle
	}{
		{brokers.NATS, brokers.Config{Sync: true}, 5 * time.Second},
		{brokers.Redis, brokers.Config{Sync: true}, 5 * time.Second},
		{brokers.RabbitMQ, brokers.Config{}, 8 * time.Second},
	} {
		t.Run(string(test.kind), func(t *testing.T) {
			if test.kind == brokers.RabbitMQ { // whose restarts take most of two minutes
				brokers.Nightly(t)
			}
			t.Parallel() // each has its own broker and processes
			broker := brokers.ForTest(t, test.kind, test.config)
			c := &chaos{t: t, broker: broker, acknowledged: make(map[string]bool), handled: make(map[string]map[string]int)}
			for _, group := range chaosGroups {
				c.handled[group] = make(map[string]int)
			}
			c.run(test.pause)
		})
	}
}

// chaosGroups are the groups of consumers. Each has two processes.
var chaosGroups = []string{"billing", "audit"}

// chaos is one broker's hour of trial, and the counts of it.
type chaos struct {
	t      *testing.T
	broker *brokers.Server

	mu           sync.Mutex
	acknowledged map[string]bool           // by message
	handled      map[string]map[string]int // times, by group and message
	again        int                       // deliveries that were not the first of their message
	actors       []*actor
}

// actor is a place for a process that is started again whenever it ends.
type actor struct {
	chaos *chaos
	role  string // "publish" or the group that it consumes for
	kills int

	mu      sync.Mutex
	command *exec.Cmd
	retired bool
}

func (c *chaos) run(pause time.Duration) {
	var lives sync.WaitGroup
	for _, role := range []string{"publish", "publish", "publish", "billing", "billing", "audit", "audit"} {
		a := &actor{chaos: c, role: role}
		c.actors = append(c.actors, a)
		lives.Go(func() { a.live(c.t) })
	}
	defer lives.Wait()
	defer func() {
		for _, a := range c.actors {
			a.retire()
		}
	}()

	// Killing begins when all is on its way.
	c.until("messages are published and handled", time.Minute, func() bool {
		return len(c.acknowledged) > 100 && len(c.handled["billing"]) > 50 && len(c.handled["audit"]) > 50
	})
	brokerKills := 0
	over := make(chan struct{})
	go func() {
		defer close(over)
		for end := time.Now().Add(*chaosTime); time.Now().Before(end) || brokerKills < 3; { // some brokers take long to come back
			time.Sleep(pause/2 + rand.N(pause))
			if err := c.broker.Kill(); err != nil {
				c.t.Error(err)
			}
			brokerKills++
			time.Sleep(rand.N(2 * time.Second))
			if err := c.broker.Restart(); err != nil {
				c.t.Error(err)
				return
			}
		}
	}()
	for killing := true; killing; {
		select {
		case <-over:
			killing = false
		case <-time.After(200*time.Millisecond + rand.N(time.Second)):
			c.actors[rand.IntN(len(c.actors))].kill()
		}
	}
	for _, a := range c.actors {
		if a.role == "publish" {
			a.retire()
		}
	}
	began := time.Now()
	c.until("every group has handled what was acknowledged", 3*time.Minute, func() bool { return c.missing() == 0 })
	c.report(brokerKills, time.Since(began))
}

// until waits for what must become true; it is asked under the lock.
func (c *chaos) until(what string, waitLimit time.Duration, so func() bool) {
	c.t.Helper()
	for end := time.Now().Add(waitLimit); ; {
		c.mu.Lock()
		yes, acknowledged, missing := so(), len(c.acknowledged), c.missing()
		c.mu.Unlock()
		if yes {
			return
		}
		if time.Now().After(end) {
			c.t.Errorf("not so after %v: %s; %d acknowledged, %d not handled by all groups", waitLimit, what, acknowledged, missing)
			return
		}
		time.Sleep(100 * time.Millisecond) // seldom: counting takes its time
	}
}

// missing counts the messages that were acknowledged and not handled. It runs under the lock, or when all is over.
func (c *chaos) missing() (n int) {
	for _, handled := range c.handled {
		for id := range c.acknowledged {
			if handled[id] == 0 {
				n++
			}
		}
	}
	return n
}

func (c *chaos) report(brokerKills int, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kills := map[bool]int{}
	for _, a := range c.actors {
		kills[a.role == "publish"] += a.kills
	}
	duplicates, unacknowledged := 0, 0
	for _, handled := range c.handled {
		for id, times := range handled {
			duplicates += times - 1
			if !c.acknowledged[id] {
				unacknowledged++
			}
		}
	}
	c.t.Logf("%s: %d messages acknowledged; handled by each of %d groups: %d of %d; not acknowledged and handled all the same: %d; "+
		"handled again: %d; deliveries after the first: %d; killed: publishers %d, consumers %d, broker %d; drained %v after the last kill",
		c.broker.Kind(), len(c.acknowledged), len(chaosGroups), len(chaosGroups)*len(c.acknowledged)-c.missing(), len(chaosGroups)*len(c.acknowledged),
		unacknowledged, duplicates, c.again, kills[true], kills[false], brokerKills, took.Round(time.Millisecond))
	if kills[true] == 0 || kills[false] == 0 || brokerKills == 0 {
		c.t.Error("somebody was never killed")
	}
}

// live runs one process after the other until the actor is retired.
func (a *actor) live(t *testing.T) {
	for {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), chaosVariable+"="+a.role+" "+a.chaos.broker.URL())
		var log record
		command.Stderr = &log
		output, err := command.StdoutPipe()
		if err != nil {
			t.Error(err)
			return
		}
		input, err := command.StdinPipe() // the process ends when this one does
		if err != nil {
			t.Error(err)
			return
		}
		a.mu.Lock()
		if a.retired {
			a.mu.Unlock()
			return
		}
		err = command.Start()
		a.command = command
		a.mu.Unlock()
		if err != nil {
			t.Error(err)
			return
		}
		a.chaos.listen(output)
		_ = command.Wait() // it was killed, or found no broker
		_ = input.Close()
		if text := log.String(); strings.Contains(text, "panic:") || strings.Contains(text, "DATA RACE") {
			t.Errorf("a process that was to %s: %s", a.role, text)
		}
		time.Sleep(100 * time.Millisecond) // as a supervisor of processes would
	}
}

// listen counts the lines of a process until it ends.
func (c *chaos) listen(output io.Reader) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		c.mu.Lock()
		switch {
		case len(words) == 3 && words[0] == "acknowledged" && words[2] == ".":
			c.acknowledged[words[1]] = true
		case len(words) == 5 && words[0] == "handled" && words[4] == ".": // a line that was cut short by a kill has no dot
			c.handled[words[1]][words[2]]++
			if attempt, err := strconv.Atoi(words[3]); err == nil && attempt > 1 {
				c.again++
			}
		}
		c.mu.Unlock()
	}
}

func (a *actor) kill() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.command != nil && a.command.Process != nil && a.command.Process.Kill() == nil {
		a.kills++
	}
}

// retire ends the actor's process for good.
func (a *actor) retire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.retired = true
	if a.command != nil && a.command.Process != nil {
		_ = a.command.Process.Kill() // it may have ended
	}
}

// chaosVariable sets what a process of the test binary runs as: "publish" or a group, and the broker's address.
const chaosVariable = "SABIR_FAULTS_CHANNEL"

type order struct {
	ID string `json:"id"`
}

var chaosOrders = channel.New[order]("faults.orders")

// beChaotic is the main function of a process that publishes or consumes until it is killed.
func beChaotic(text string) int {
	role, address, _ := strings.Cut(text, " ")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // the test has ended
	}()
	say := saying(os.Stdout)
	options := []sabir.NodeOption{channel.Broker(address), sabir.Logger(slog.New(slog.NewTextHandler(os.Stderr, nil)))}
	if role != "publish" {
		s := sabir.NewService(role)
		chaosOrders.ConsumeWith(s, channel.Consumer{AckWait: 3 * time.Second, Attempts: 1000, FirstPause: 50 * time.Millisecond, MaxPause: 500 * time.Millisecond, MaxInFlight: 32}, func(ctx context.Context, o order) error {
			time.Sleep(rand.N(4 * time.Millisecond)) // work
			if rand.IntN(20) == 0 {
				return errors.New("one in twenty fails")
			}
			d, _ := channel.DeliveryFromContext(ctx)
			say("handled %s %s %d .\n", role, o.ID, d.Attempt)
			return nil
		})
		options = append(options, sabir.Serve(s))
	}
	node := sabir.NewNode(options...)
	if err := node.Start(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if role == "publish" {
		var publishers sync.WaitGroup
		for p := range 8 {
			publishers.Go(func() {
				for i := 0; ; i++ {
					id := fmt.Sprintf("%d-%d-%d-%d", os.Getpid(), time.Now().UnixNano(), p, i)
					if _, err := chaosOrders.Publish(context.Background(), node, order{id}); err == nil {
						say("acknowledged %s .\n", id)
					}
					time.Sleep(rand.N(8 * time.Millisecond))
				}
			})
		}
		publishers.Wait()
	}
	select {}
}

// saying returns a function that writes whole lines.
func saying(to io.Writer) func(format string, words ...any) {
	var mu sync.Mutex
	return func(format string, words ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(to, format, words...)
	}
}
