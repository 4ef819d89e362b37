package links_test

import (
	"crypto/tls"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

// waitLimit is the time that a test waits for what should come.
const waitLimit = time.Minute

func TestAConnectionThatTheServerCutsIsRestored(t *testing.T) {
	server := brokers.ForTestShared(t, brokers.Redis)
	for _, kind := range []string{"pubsub", "normal"} {
		t.Run(kind, func(t *testing.T) {
			lost, restored := make(chan error, 10), make(chan struct{}, 10)
			broker, err := transporttest.Connect(t, server.URL(), transport.Config{}, transport.BusEvents{
				Lost:     func(err error) { lost <- err },
				Restored: func() { restored <- struct{}{} },
			})
			if err != nil {
				t.Fatal(err)
			}
			messages := make(chan string, 1000)
			if err := broker.Subscribe(t.Context(), "cut."+kind, func(data []byte) { messages <- string(data) }); err != nil {
				t.Fatal(err)
			}
			other, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr()}, DisableCache: true})
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			if err := other.Do(t.Context(), other.B().Arbitrary("CLIENT", "KILL", "SKIPME", "yes", "TYPE", kind).Build()).Error(); err != nil {
				t.Fatal(err)
			}
			again := time.NewTicker(20 * time.Millisecond)
			defer again.Stop()
			limit := time.After(waitLimit)
			for waiting := true; waiting; {
				select {
				case <-restored:
					waiting = false
				case <-again.C:
					broker.Publish("cut."+kind, []byte("lost")) // which finds out
				case <-limit:
					t.Fatal("not restored")
				}
			}
			if err := broker.Publish("cut."+kind, []byte("again")); err != nil {
				t.Fatal(err)
			}
			for got := ""; got != "again"; {
				select {
				case got = <-messages:
				case <-time.After(waitLimit):
					t.Fatal("nothing arrived")
				}
			}
			if len(lost) != 1 || len(restored) != 0 {
				t.Errorf("Lost came %d times, and Restored %d times more", len(lost), len(restored))
			}
		})
	}
}

func TestAServerThatFallsSilentIsLostWithThatReason(t *testing.T) {
	for _, publishing := range []bool{false, true} {
		t.Run(map[bool]string{false: "quiet", true: "publishing"}[publishing], func(t *testing.T) {
			t.Parallel()
			server := brokers.ForTest(t, brokers.Redis)
			m := transporttest.Join(t, server.URL(), transport.Config{KeepAlive: 3 * time.Second}) // in which a busy machine must answer
			messages := m.Messages(t, "silent")
			if err := server.Suspend(); err != nil {
				t.Fatal(err)
			}
			if publishing {
				m.Publish("silent", []byte("lost"))
			}
			if err := transporttest.Receive(t, m.Lost); !strings.Contains(err.Error(), "did not answer for 3s") {
				t.Errorf("the loss is reported as %v", err)
			}
			if err := server.Resume(); err != nil {
				t.Fatal(err)
			}
			transporttest.Receive(t, m.Restored)
			m.Publish("silent", []byte("again"))
			transporttest.Await(t, messages, "again")
		})
	}
}

func TestAUserWithoutTheRightLearnsOfIt(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis, brokers.Config{Extra: `user bob on >s3cret resetchannels &allowed +@all`})
	at, _ := url.Parse(server.URL())
	at.User = url.UserPassword("bob", "s3cret")
	broker, err := transporttest.Connect(t, at.String(), transport.Config{}, transport.BusEvents{})
	if err != nil {
		t.Fatal(err)
	}
	if err := broker.Subscribe(t.Context(), "allowed", func([]byte) {}); err != nil {
		t.Errorf("subscribing where it is allowed: %v", err)
	}
	if err := broker.Subscribe(t.Context(), "other", func([]byte) {}); err == nil || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("subscribing elsewhere gave %v", err)
	}
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(waitLimit); ; <-again.C {
		if err := broker.Publish("other", []byte("x")); err != nil {
			if !strings.Contains(err.Error(), "NOPERM") || !strings.Contains(err.Error(), "other") {
				t.Errorf("publishing elsewhere gave %v", err)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("publishing elsewhere gave no error")
		}
	}
	if err := broker.Publish("allowed", []byte("x")); err != nil {
		t.Errorf("publishing where it is allowed: %v", err)
	}
}

func TestALockHeldWhilePublishingAndTakenByCallbacksDoesNoHarm(t *testing.T) {
	server := brokers.ForTestShared(t, brokers.Redis)
	var own sync.Mutex
	broker, err := transporttest.Connect(t, server.URL(), transport.Config{}, transport.BusEvents{Unheard: func(string) {
		own.Lock()
		defer own.Unlock()
	}})
	if err != nil {
		t.Fatal(err)
	}
	arrived := make(chan struct{}, 10000)
	err = broker.Subscribe(t.Context(), "lock", func([]byte) {
		own.Lock()
		defer own.Unlock()
		arrived <- struct{}{}
	})
	if err != nil {
		t.Fatal(err)
	}
	const rounds, count = 5, 100
	block := make([]byte, 32<<10) // so that a round is more than the queue takes
	for range rounds {
		go func() {
			own.Lock()
			defer own.Unlock()
			for i := range count {
				if err := broker.Publish("lock", block); err != nil {
					t.Errorf("publish: %v", err)
				}
				if i%10 == 0 {
					if err := broker.Probe("nobody", block); err != nil {
						t.Errorf("probe: %v", err)
					}
				}
			}
		}()
		for range count {
			select {
			case <-arrived:
			case <-time.After(waitLimit):
				t.Fatal("everyone waits for someone")
			}
		}
	}
}

func TestLinksFollowThePrimaryThatSentinelsName(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 1)
	restored := make(chan struct{}, 10)
	broker, err := transporttest.Connect(t, "redis://"+r.Sentinel(t)+"?sentinel="+brokers.SentinelName, transport.Config{}, transport.BusEvents{
		Restored: func() { restored <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	messages := make(chan string, 10)
	if err := broker.Subscribe(t.Context(), "news", func(data []byte) { messages <- string(data) }); err != nil {
		t.Fatal(err)
	}
	expect := func(text string) {
		t.Helper()
		if err := broker.Publish("news", []byte(text)); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-messages:
			if got != text {
				t.Fatalf("%q arrived, want %q", got, text)
			}
		case <-time.After(waitLimit):
			t.Fatalf("%q did not arrive", text)
		}
	}
	expect("before")
	if err := r.Primary.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-restored:
	case <-time.After(waitLimit):
		t.Fatal("not restored")
	}
	expect("after")
}

func TestTLSIsNotDroppedSilently(t *testing.T) {
	config := transport.Config{Keyed: true, TLS: &tls.Config{}, DialTimeout: time.Second}
	if _, err := transporttest.Connect(t, "redis://192.0.2.1", config, transport.BusEvents{}); err == nil || !strings.Contains(err.Error(), "rediss://") {
		t.Errorf("the error is %v", err)
	}
}
