package transporttest

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/transport"
)

func (s *busTest) kill(t *testing.T) {
	t.Helper()
	if err := s.Kill(); err != nil {
		t.Fatalf("kill the broker: %v", err)
	}
	// The next test finds a broker in any case. Restarting one that runs would be a waste of seconds.
	t.Cleanup(func() {
		if t.Failed() {
			s.Restart()
		}
	})
}

func (s *busTest) restart(t *testing.T) {
	t.Helper()
	if err := s.Restart(); err != nil {
		t.Fatalf("restart the broker: %v", err)
	}
}

func (s *busTest) suspend(t *testing.T) {
	t.Helper()
	if err := s.Suspend(); err != nil {
		t.Fatalf("suspend the broker: %v", err)
	}
	t.Cleanup(func() { s.Resume() })
}

func (s *busTest) resume(t *testing.T) {
	t.Helper()
	if err := s.Resume(); err != nil {
		t.Fatalf("resume the broker: %v", err)
	}
}

// saysWhyLost waits until a driver knows why it cannot connect again.
func (s *busTest) saysWhyLost(t *testing.T, m *Member) {
	t.Helper()
	driver, ok := m.Broker.(interface{ WhyLost() error })
	if !ok {
		t.Fatal("the driver does not say why it cannot connect again")
	}
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(waitLimit); !errors.Is(driver.WhyLost(), syscall.ECONNREFUSED); <-again.C {
		if time.Now().After(deadline) {
			t.Fatalf("the broker is gone, and the driver says: %v", driver.WhyLost())
		}
	}
	s.hidesSecret(t, "WhyLost", driver.WhyLost().Error())
}

func outage(t *testing.T, s *busTest) {
	first, second, silent := s.connect(t), s.connect(t), s.connectWith(t, transport.BusEvents{})
	one, another := first.Messages(t, s.subject("one")), first.Messages(t, s.subject("another"))
	back := second.Messages(t, s.subject("back"))
	unnoticed := make(chan []byte, 1)
	if err := silent.Subscribe(t.Context(), s.subject("silent"), func(data []byte) {
		select {
		case unnoticed <- data:
		default: // one is enough
		}
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.kill(t)
		for _, m := range []*Member{first, second} {
			if err := Receive(t, m.Lost); err == nil {
				t.Error("Lost came without an error")
			} else {
				s.hidesSecret(t, "Lost", err.Error())
			}
			m.Probe(s.subject("one"), []byte("lost"))
			s.saysWhyLost(t, m)
		}
		s.restart(t)
		Receive(t, first.Restored)
		Receive(t, second.Restored)
		second.publish(t, s.subject("one"), "again")
		second.probe(t, s.subject("another"), "again")
		first.publish(t, s.subject("back"), "again")
		for _, messages := range []<-chan []byte{one, another, back} {
			Await(t, messages, "again")
		}
		for _, m := range []*Member{first, second} {
			none(t, "a second loss in one outage", m.Lost)
			none(t, "Restored twice after one outage", m.Restored)
			none(t, "unheard, which no broker can have said", m.Unheard)
		}
	}
	// There is no event for when the silent one is back.
	deadline := time.Now().Add(waitLimit)
	for {
		first.publish(t, s.subject("silent"), "x")
		select {
		case <-unnoticed:
			return
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("a broker without events is not back after %v", waitLimit)
		}
	}
}

func orderAroundOutage(t *testing.T, s *busTest) {
	publisher, subscriber := s.connect(t), s.connect(t)
	messages := subscriber.Messages(t, s.subject("count"))
	stop, stopped := make(chan struct{}), make(chan uint64, 1)
	go func() {
		body := make([]byte, 500)
		pace := time.NewTicker(100 * time.Microsecond)
		defer pace.Stop()
		for i := uint64(1); ; i++ {
			binary.BigEndian.PutUint64(body, i)
			send := publisher.Publish
			if i%5 == 0 {
				send = publisher.Probe
			}
			err := send(s.subject("count"), body)
			select {
			case <-stop:
				if err == nil {
					stopped <- i
					return
				}
			case <-pace.C:
			}
		}
	}()
	last, gaps := uint64(0), 0
	take := func(message []byte) {
		i := binary.BigEndian.Uint64(message)
		if i <= last {
			t.Fatalf("message %d arrived after message %d", i, last)
		}
		if i != last+1 {
			gaps++
		}
		last = i
	}
	for range 100 {
		take(Receive(t, messages))
	}
	s.kill(t)
	Receive(t, publisher.Lost)
	Receive(t, subscriber.Lost)
	s.restart(t)
	Receive(t, publisher.Restored)
	Receive(t, subscriber.Restored)
	for len(messages) > 0 {
		take(<-messages)
	}
	for range 100 {
		take(Receive(t, messages))
	}
	close(stop)
	end := Receive(t, stopped)
	for last < end {
		take(Receive(t, messages))
	}
	t.Logf("%d messages, the last of them arrived, %d gaps", end, gaps)
}

func publishDuringOutage(t *testing.T, s *busTest) {
	const count, size = 4000, 64 << 10
	m := s.connect(t)
	messages := m.Messages(t, s.subject("x"))
	s.kill(t)
	Receive(t, m.Lost)
	before := heap()
	block := make([]byte, size)
	quick(t, "publishing 4000 messages without a broker", 5*quickly, func() {
		for i := range count {
			send := m.Publish
			if i%2 == 1 {
				send = m.Probe
			}
			send(s.subject("x"), block) // fails, or drops
		}
	})
	if grown := heap() - before; grown > 64<<20 {
		t.Errorf("%d MiB are kept of what was published without a broker", grown>>20)
	}
	s.restart(t)
	Receive(t, m.Restored)
	m.publish(t, s.subject("x"), "end")
	for arrived := 0; string(Receive(t, messages)) != "end"; arrived++ { // some may have been kept
		if arrived > 1024 {
			t.Fatal("more than 1024 messages were kept")
		}
	}
	none(t, "unheard, though we subscribe", m.Unheard)
}

func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func subscribeDuringOutage(t *testing.T, s *busTest) {
	m := s.connect(t)
	s.kill(t)
	Receive(t, m.Lost)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	quick(t, "Subscribe with a context of 50ms", quickly, func() {
		if err := m.Subscribe(ctx, s.subject("x"), func([]byte) {}); err == nil {
			t.Error("Subscribe went well without a broker")
		}
	})
	s.restart(t)
	Receive(t, m.Restored)
	messages := m.Messages(t, s.subject("x"))
	m.publish(t, s.subject("x"), "x")
	Await(t, messages, "x")
}
