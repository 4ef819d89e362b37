package transporttest

import (
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/transport"
)

func probeWithoutSubscriber(t *testing.T, s *busTest) {
	m := s.connect(t)
	m.publish(t, s.subject("published"), "is not asked about")
	for _, name := range []string{"first", "second", "second"} {
		m.probe(t, s.subject(name), "anybody?")
		if got := Receive(t, m.Unheard); got != s.subject(name) {
			t.Errorf("%s is said to be unheard, want %s", got, s.subject(name))
		}
	}
	none(t, "unheard once more", m.Unheard)
}

func probeWithSubscriber(t *testing.T, s *busTest) {
	prober, subscriber := s.connect(t), s.connect(t)
	messages := subscriber.Messages(t, s.subject("received"))
	for range 100 {
		prober.probe(t, s.subject("received"), "anybody?")
	}
	prober.probe(t, s.subject("nobody"), "anybody?")
	if got := Receive(t, prober.Unheard); got != s.subject("nobody") {
		t.Errorf("%s is said to be unheard, and has a subscriber", got)
	}
	for range 100 {
		Await(t, messages, "anybody?")
	}
	none(t, "unheard", prober.Unheard)
	none(t, "unheard by the subscriber", subscriber.Unheard)
}

func probesInOrder(t *testing.T, s *busTest) {
	const count = 2000
	publisher, subscriber := s.connect(t), s.connect(t)
	messages := subscriber.Messages(t, s.subject("mixed"))
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() {
		body := make([]byte, 3000)
		for i := range count {
			binary.BigEndian.PutUint64(body, uint64(i))
			send := publisher.Publish
			if i%7 == 3 || i%100 > 80 {
				send = publisher.Probe
			}
			if err := send(s.subject("mixed"), body[:8+i%len(body[8:])]); err != nil {
				t.Errorf("message %d: %v", i, err)
				return
			}
		}
	})
	for want := range uint64(count) {
		if got := binary.BigEndian.Uint64(Receive(t, messages)); got != want {
			t.Fatalf("message %d arrived, want %d", got, want)
		}
	}
	none(t, "unheard", publisher.Unheard)
}

func probeAfterLeaving(t *testing.T, s *busTest) {
	prober, subscriber := s.connect(t), s.connect(t)
	messages := subscriber.Messages(t, s.subject("left"))
	prober.probe(t, s.subject("left"), "x")
	Await(t, messages, "x")
	subscriber.Close()
	// The broker may take a moment to see it.
	deadline := time.Now().Add(waitLimit)
	for {
		prober.probe(t, s.subject("left"), "x")
		select {
		case got := <-prober.Unheard:
			if got != s.subject("left") {
				t.Fatalf("%s is said to be unheard", got)
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody says that the subject is unheard after %v", waitLimit)
		}
	}
}

func eventsOutside(t *testing.T, s *busTest) {
	var own sync.Mutex // the owner's, as it is held by those that call and taken by those that are called
	unheard := make(chan string, 16)
	broker := s.connectWith(t, transport.BusEvents{Unheard: func(subject string) {
		own.Lock()
		defer own.Unlock()
		notify(t, unheard, subject)
	}})
	for range 10 {
		returned := make(chan error, 1)
		go func() {
			own.Lock()
			defer own.Unlock()
			returned <- broker.Probe(s.subject("nobody"), []byte("anybody?"))
		}()
		if err := Receive(t, returned); err != nil {
			t.Fatal(err)
		}
		Receive(t, unheard)
	}
}

func noEvents(t *testing.T, s *busTest) {
	broker, listening := s.connectWith(t, transport.BusEvents{}), s.connect(t)
	messages := listening.Messages(t, s.subject("then"))
	if err := broker.Probe(s.subject("nobody"), []byte("anybody?")); err != nil {
		t.Fatal(err)
	}
	if err := broker.Publish(s.subject("then"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	Await(t, messages, "x")
}
