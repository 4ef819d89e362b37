package channels_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/channeltest"
	"github.com/sabir-go/sabir/internal/engine"
)

func wantFull(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, engine.ErrFull) {
		t.Errorf("got %v, want ErrFull", err)
	}
}

// limits are the places in which a server's operator may bound what is kept. The address has the user whom the limit is for.
var limits = []struct{ name, user, extra string }{
	{"the server's", "", "jetstream { store_dir: %q, max_file_store: 8MB }\n"},
	{"the account's", "ada:secret", "jetstream { store_dir: %q }\naccounts { shop { jetstream { max_file: 8MB }, users [ { user: ada, password: secret } ] } }\n"},
}

func TestALimitOfNATSIsAnErrorAtOnce(t *testing.T) {
	for _, limit := range limits {
		t.Run(limit.name, func(t *testing.T) {
			server := brokers.ForTest(t, brokers.NATS, brokers.Config{Extra: fmt.Sprintf(limit.extra, t.TempDir())})
			address := "nats://" + limit.user
			if limit.user != "" {
				address += "@"
			}
			address += server.Addr()
			js := open(t, address)
			channeltest.Fault{Address: address, Want: engine.ErrFull, Consumes: true,
				Cause: func(t *testing.T) { fill(t, js) }, Undo: func(t *testing.T) { free(t, js) }}.Run(t)
		})
	}
}

// open makes a stream that is to take the space.
func open(t *testing.T, address string) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func fill(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "filler", Subjects: []string{"filler"}}); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, 512<<10)
	for {
		if _, err := js.Publish(t.Context(), "filler", body, jetstream.WithRetryAttempts(0)); err != nil {
			if body = body[:len(body)/2]; len(body) == 0 {
				return
			}
		}
	}
}

func free(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	if err := js.DeleteStream(t.Context(), "filler"); err != nil {
		t.Fatal(err)
	}
}

// Two of three servers stand still: no message can be kept by a majority.
func TestWithoutAQuorumTheErrorSaysSoAndServiceComesBack(t *testing.T) {
	brokers.Slow(t) // elections take seconds
	address, servers := brokers.NATSClusterForTest(t)
	l := channeltest.StartLoad(t, address+"?replicas=3")
	l.Some(t, 500)
	s, err := engine.Open(t.Context(), address, engine.Config{Name: "suite"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Declare(t.Context(), engine.Spec{Name: "failover"}); err != nil {
		t.Fatal(err)
	}
	leader := leaderOf(t, address)
	for name, server := range servers {
		if name != leader {
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.Refusals(t, 8)
	// The server that is left takes itself for the leader for some seconds more, and answers questions.
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(30 * time.Second); ; <-again.C {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		err := s.Check(ctx)
		cancel()
		if errors.Is(err, engine.ErrUnreachable) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("without a quorum Check returns %v, want ErrUnreachable", err)
		}
	}
	for name, server := range servers {
		if name != leader {
			if err := server.Restart(); err != nil {
				t.Fatal(fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	l.Some(t, 500)
	if lost := l.Lost(t); lost != 0 {
		t.Errorf("%d of %d acknowledged messages are lost", lost, l.Acknowledged())
	}
}
