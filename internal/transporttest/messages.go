package transporttest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func everySubscriber(t *testing.T, s *busTest) {
	publisher := s.connect(t)
	var arrived []<-chan []byte
	for range 3 {
		arrived = append(arrived, s.connect(t).Messages(t, s.subject("news")))
	}
	publisher.publish(t, s.subject("news"), "one")
	publisher.publish(t, s.subject("news"), "two")
	for _, messages := range arrived {
		first := Receive(t, messages)
		if string(first) != "one" {
			t.Fatalf("%q arrived", first)
		}
		copy(first, "xxx") // which is no other subscriber's
		Await(t, messages, "two")
	}
}

func ownMessages(t *testing.T, s *busTest) {
	m := s.connect(t)
	messages := m.Messages(t, s.subject("all"))
	m.publish(t, s.subject("all"), "from me")
	Await(t, messages, "from me")
	m.probe(t, s.subject("all"), "from me too")
	Await(t, messages, "from me too")
}

func subscribedAtOnce(t *testing.T, s *busTest) {
	publisher, subscriber := s.connect(t), s.connect(t)
	for i := range 30 {
		subject := s.subject(fmt.Sprint(i))
		messages := subscriber.Messages(t, subject)
		publisher.publish(t, subject, subject)
		Await(t, messages, subject)
	}
}

func subscribeCancelled(t *testing.T, s *busTest) {
	m := s.connect(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Subscribe(ctx, s.subject("x"), func([]byte) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("subscribing with a cancelled context gave %v, want context.Canceled", err)
	}
	messages := m.Messages(t, s.subject("x")) // can be tried again
	m.publish(t, s.subject("x"), "x")
	Await(t, messages, "x")
}

func subjectsApart(t *testing.T, s *busTest) {
	publisher, subscriber := s.connect(t), s.connect(t)
	long := s.subject("")
	long += strings.Repeat("Long-1_", 200/7+1)
	subjects := []string{
		s.subject("a"), s.subject("a.b"), s.subject("a.b.c"), s.subject("a-b"), s.subject("a_b"), s.subject("ab"),
		s.subject("A"), s.subject("0"), s.subject("-"), s.subject("_"), strings.TrimRight(long[:200], "."),
		"x" + strings.ReplaceAll(s.subject(""), ".", ""), // of one part
	}
	arrived := make(map[string]<-chan []byte)
	for _, subject := range subjects {
		arrived[subject] = subscriber.Messages(t, subject)
	}
	for _, subject := range subjects {
		publisher.publish(t, subject, subject)
		publisher.publish(t, subject, "end")
	}
	for _, subject := range subjects {
		Await(t, arrived[subject], subject)
		Await(t, arrived[subject], "end")
	}
}

func messagesInOrder(t *testing.T, s *busTest) {
	const count = 5000
	publisher, subscriber := s.connect(t), s.connect(t)
	messages := subscriber.Messages(t, s.subject("order"))
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() {
		random := rand.New(rand.NewPCG(1, 2))
		body := make([]byte, 16<<10)
		for i := range count {
			size := 8 + random.IntN(1<<random.IntN(14))
			binary.BigEndian.PutUint64(body, uint64(i))
			if err := publisher.Publish(s.subject("order"), body[:size]); err != nil {
				t.Errorf("publish message %d: %v", i, err)
				return
			}
		}
	})
	for want := range uint64(count) {
		if got := binary.BigEndian.Uint64(Receive(t, messages)); got != want {
			t.Fatalf("message %d arrived, want %d", got, want)
		}
	}
}

func manyPublishers(t *testing.T, s *busTest) {
	const publishers, count, subjects = 16, 200, 4
	publisher, subscriber := s.connect(t), s.connect(t)
	subject := func(i int) string { return s.subject(fmt.Sprint("many-", i%subjects)) }
	var arrived []<-chan []byte
	for i := range subjects {
		arrived = append(arrived, subscriber.Messages(t, subject(i)))
	}
	var group sync.WaitGroup
	defer group.Wait()
	for i := range publishers {
		group.Go(func() {
			for n := range count {
				if err := publisher.Publish(subject(i), fmt.Append(nil, i, " ", n)); err != nil {
					t.Errorf("publish: %v", err)
					return
				}
			}
		})
	}
	var next [publishers]int
	for k := range subjects {
		for range publishers * count / subjects {
			var from, n int
			if _, err := fmt.Sscan(string(Receive(t, arrived[k])), &from, &n); err != nil {
				t.Fatal(err)
			}
			if n != next[from] || from%subjects != k {
				t.Fatalf("message %d of publisher %d arrived on subject %d, want its message %d", n, from, k, next[from])
			}
			next[from]++
		}
	}
}

func oneDeliveryAtATime(t *testing.T, s *busTest) {
	const count = 2000
	publisher, subscriber := s.connect(t), s.connect(t)
	var running atomic.Int64
	all := make(chan struct{})
	seen := 0
	err := subscriber.Subscribe(t.Context(), s.subject("one"), func([]byte) {
		if running.Add(1) > 1 {
			t.Error("two deliveries of one subject at a time")
		}
		if seen++; seen == count { // which the race detector watches
			close(all)
		}
		running.Add(-1)
	})
	if err != nil {
		t.Fatal(err)
	}
	for range count {
		publisher.publish(t, s.subject("one"), "x")
	}
	Receive(t, all)
}

// largestTried bounds the messages of the tests of sizes: brokers may take messages of hundreds of MiB.
const largestTried = 4 << 20

func messageSizes(t *testing.T, s *busTest) {
	publisher, subscriber := s.connect(t), s.connect(t)
	if publisher.MaxMessage() < 256<<10 {
		t.Fatalf("the largest message is of %d bytes, want 256 KiB at least", publisher.MaxMessage())
	}
	messages := subscriber.Messages(t, s.subject("sizes"))
	body := make([]byte, min(publisher.MaxMessage(), largestTried))
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	sizes := []int{1, 0, 2, 20, 126, 127, 128, 129, 677, 4095, 4096, 16383, 16384, 16385, 65535, 65536, 1<<17 - 1, 1 << 17, 1<<17 + 1, 1 << 18, len(body)}
	for _, size := range sizes {
		if err := publisher.Publish(s.subject("sizes"), body[:size]); err != nil {
			t.Fatalf("publish %d bytes: %v", size, err)
		}
		if got := Receive(t, messages); !bytes.Equal(got, body[:size]) {
			t.Fatalf("%d bytes arrived for %d, or others", len(got), size)
		}
	}
	for _, size := range sizes[:len(sizes)-1] { // under way at the same time
		send := publisher.Publish
		if size%2 == 0 {
			send = publisher.Probe
		}
		if err := send(s.subject("sizes"), body[:size]); err != nil {
			t.Fatalf("publish %d bytes: %v", size, err)
		}
	}
	for _, size := range sizes[:len(sizes)-1] {
		if got := Receive(t, messages); !bytes.Equal(got, body[:size]) {
			t.Fatalf("%d bytes arrived for %d, or others", len(got), size)
		}
	}
}

func messageTooLarge(t *testing.T, s *busTest) {
	m := s.connect(t)
	messages := m.Messages(t, s.subject("large"))
	tooLarge := make([]byte, m.MaxMessage()+1) // which the system need not back with memory
	for name, send := range map[string]func(string, []byte) error{"Publish": m.Publish, "Probe": m.Probe} {
		if err := send(s.subject("large"), tooLarge); err == nil {
			t.Errorf("%s took %d bytes, where %d are the most", name, len(tooLarge), m.MaxMessage())
		} else if !strings.Contains(err.Error(), fmt.Sprint(m.MaxMessage())) {
			t.Errorf("%s: the error does not tell the limit, %d: %v", name, m.MaxMessage(), err)
		}
	}
	m.publish(t, s.subject("large"), "small")
	Await(t, messages, "small")
	none(t, "the connection was lost", m.Lost)
}

func dataIsCallers(t *testing.T, s *busTest) {
	const count = 500
	publisher, subscriber := s.connect(t), s.connect(t)
	messages := subscriber.Messages(t, s.subject("reuse"))
	body := make([]byte, 2000)
	for i := range count {
		for k := range body {
			body[k] = byte(i)
		}
		send := publisher.Publish
		if i%2 == 1 {
			send = publisher.Probe
		}
		if err := send(s.subject("reuse"), body); err != nil {
			t.Fatal(err)
		}
		for k := range body {
			body[k] = 0xff
		}
	}
	for i := range count {
		if got := Receive(t, messages); bytes.Count(got, []byte{byte(i)}) != len(body) {
			t.Fatalf("message %d was changed after it had been published", i)
		}
	}
}

func dataIsReceivers(t *testing.T, s *busTest) {
	const count, size = 500, 2000
	publisher, subscriber := s.connect(t), s.connect(t)
	messages := subscriber.Messages(t, s.subject("keep"))
	for i := range count {
		publisher.publish(t, s.subject("keep"), strings.Repeat(string(rune('a'+i%26)), size))
	}
	var kept [][]byte
	for range count {
		kept = append(kept, Receive(t, messages))
	}
	for i, got := range kept {
		if bytes.Count(got, []byte{byte('a' + i%26)}) != size {
			t.Fatalf("message %d was changed after it had been delivered", i)
		}
		_ = append(got, bytes.Repeat([]byte{'!'}, size)...) // which must not write into the next one
	}
	for i, got := range kept {
		if bytes.Count(got, []byte{byte('a' + i%26)}) != size {
			t.Fatalf("message %d shares its memory with another one", i)
		}
	}
}
