package channel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

func TestAMessageThatCannotBeHandledBecomesADeadLetter(t *testing.T) {
	stuck := errors.New("the printer is out of paper")
	for name, test := range map[string]struct {
		handler  func(context.Context, article) error
		attempts int
		code     string
		reason   string
	}{
		"after the last attempt":  {func(context.Context, article) error { return stuck }, 3, "Unknown", stuck.Error()},
		"at once when it says so": {func(context.Context, article) error { return channel.Reject(stuck) }, 1, "Unknown", stuck.Error()},
		"at once when input is bad": {func(context.Context, article) error {
			return fmt.Errorf("because: %w", sabir.NewError(sabir.CodeInvalidArgument, "BadParcel", "no such size"))
		}, 1, "InvalidArgument", "no such size"},
		"after panics": {func(context.Context, article) error { panic("fire") }, 3, "Internal", "fire"},
		"after failures of goroutines": {func(ctx context.Context, _ article) error {
			sabir.Go(ctx, func(context.Context) error { return stuck })
			return nil
		}, 3, "Unknown", stuck.Error()},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			c := parcels(t)
			s, dead := sabir.NewService("billing"), sabir.NewService("undertaker")
			var attempts atomic.Int32
			c.ConsumeWith(s, fast, func(ctx context.Context, p article) error {
				attempts.Add(1)
				return test.handler(ctx, p)
			})
			letters := make(chan channel.Delivery, 1)
			channel.New[article](c.Name()+".dead").Consume(dead, func(ctx context.Context, _ article) error {
				d, _ := channel.DeliveryFromContext(ctx)
				letters <- d
				return nil
			})
			n := channelNode(t, s, dead)
			publish(t, c, n, 9)
			d := next(t, letters).Dead
			if d == nil || d.Channel != c.Name() || d.Group != "billing" || d.Attempts != test.attempts || d.Sequence != 1 || d.Code != test.code ||
				!strings.Contains(d.Reason, test.reason) || d.Node != n.ID() || int(attempts.Load()) != test.attempts {
				t.Fatalf("%d attempts, %+v", attempts.Load(), d)
			}
		})
	}
}

func TestAMessageThatCannotBeDecodedBecomesADeadLetter(t *testing.T) {
	texts := channel.New[string](t.Name())
	s := sabir.NewService("billing")
	channel.New[article](t.Name()).Consume(s, func(context.Context, article) error { return nil })
	n := channelNode(t, s)
	if _, err := texts.Publish(t.Context(), n, "no article"); err != nil {
		t.Fatal(err)
	}
	letters := awaitLetters(t, n, t.Name()+".dead", 1)
	if string(letters[0].Data) != `"no article"` || letters[0].Dead.Code != "InvalidArgument" || letters[0].Dead.Attempts != 1 || !strings.Contains(letters[0].Dead.Reason, "article") {
		t.Fatalf("%+v, %+v", letters[0], letters[0].Dead)
	}
}

// awaitLetters waits until there are n dead letters.
func awaitLetters(t *testing.T, n *sabir.Node, name string, want int) []channel.DeadLetter {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		letters, err := channel.DeadLetters(ctx, n, name, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(letters) == want {
			return letters
		}
		<-tick.C
	}
}

func TestAMessageThatBreaksRulesBecomesADeadLetterAtOnce(t *testing.T) {
	type shipment struct {
		Weight int `json:"weight" validate:"min=1"`
	}
	shipments := channel.New[shipment](t.Name())
	s := sabir.NewService("billing")
	handled := make(chan shipment, 2)
	shipments.Consume(s, func(_ context.Context, p shipment) error {
		handled <- p
		return nil
	})
	n := channelNode(t, s)
	for _, weight := range []int{0, 7} {
		if _, err := shipments.Publish(t.Context(), n, shipment{weight}); err != nil {
			t.Fatal(err)
		}
	}
	dead := awaitLetters(t, n, t.Name()+".dead", 1)[0].Dead
	if dead.Code != "InvalidArgument" || dead.Attempts != 1 || !strings.Contains(dead.Reason, "weight") {
		t.Errorf("%+v", dead)
	}
	if p := next(t, handled); p.Weight != 7 {
		t.Errorf("handled: %+v", p)
	}
}

func TestADeadLetterIsReplayedForTheGroupThatFailedOnly(t *testing.T) {
	c := parcels(t)
	var mended atomic.Bool
	billed, mailed := make(chan int, 10), make(chan int, 10)
	billing, mail := sabir.NewService("billing"), sabir.NewService("mail")
	c.Consume(billing, func(_ context.Context, p article) error {
		if !mended.Load() {
			return channel.Reject(errors.New("broken"))
		}
		billed <- p.ID
		return nil
	})
	c.ConsumeWith(mail, channel.Consumer{MaxInFlight: 1}, func(_ context.Context, p article) error {
		mailed <- p.ID
		return nil
	})
	n := channelNode(t, billing, mail)
	publish(t, c, n, 1, 2, 3)
	letters := awaitLetters(t, n, c.Name()+".dead", 3)
	if deleted, err := channel.DeleteDeadLetters(t.Context(), n, c.Name()+".dead", letters[0].Key); deleted != 1 || err != nil {
		t.Fatal(deleted, err)
	}
	mended.Store(true)
	if replayed, err := channel.Replay(t.Context(), n, c.Name()+".dead"); replayed != 2 || err != nil {
		t.Fatal(replayed, err)
	}
	var left article
	if err := json.Unmarshal(letters[0].Data, &left); err != nil {
		t.Fatal(err)
	}
	if got := []int{next(t, billed), next(t, billed)}; slices.Contains(got, left.ID) {
		t.Fatalf("the deleted letter %d was replayed: %v", left.ID, got)
	}
	awaitLetters(t, n, c.Name()+".dead", 0)
	publish(t, c, n, 4) // comes after the replayed ones
	var all []int
	for range 4 {
		all = append(all, next(t, mailed))
	}
	if !slices.Equal(all, []int{1, 2, 3, 4}) {
		t.Fatalf("the other group got %v", all)
	}
}

func TestKeysOfNoDeadLettersAreNamed(t *testing.T) {
	c := parcels(t)
	s := sabir.NewService("billing")
	c.Consume(s, func(context.Context, article) error { return channel.Reject(errors.New("broken")) })
	n := channelNode(t, s)
	name := c.Name() + ".dead"
	publish(t, c, n, 1)
	key := awaitLetters(t, n, name, 1)[0].Key
	for did, settle := range map[string]func(context.Context, sabir.Caller, string, ...string) (int, error){"replayed": channel.Replay, "deleted": channel.DeleteDeadLetters} {
		if count, err := settle(t.Context(), n, name, "77", "x"); count != 0 || !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadChannel", "")) || !strings.Contains(err.Error(), name+" has no dead letters with these keys: 77, x; of the others 0 were "+did) {
			t.Errorf("%d were %s: %v", count, did, err)
		}
	}
	if count, err := channel.DeleteDeadLetters(t.Context(), n, name, "77", key); count != 1 || err == nil || !strings.Contains(err.Error(), "keys: 77; of the others 1 were deleted") {
		t.Errorf("%d deleted: %v", count, err)
	}
}

func TestAReplayHasTheIDOfTheMessageThatFailedHoweverOftenItFails(t *testing.T) {
	c := parcels(t)
	var mended atomic.Bool
	ids := make(chan string, 10)
	s := sabir.NewService("billing")
	c.Consume(s, func(ctx context.Context, _ article) error {
		d, _ := channel.DeliveryFromContext(ctx)
		ids <- d.ID
		if mended.Load() {
			return nil
		}
		return channel.Reject(errors.New("broken"))
	})
	n := channelNode(t, s)
	if _, err := c.PublishWithID(t.Context(), n, "order-7", article{ID: 1}); err != nil {
		t.Fatal(err)
	}
	for round := range 3 { // within the two minutes in which brokers leave out duplicates
		letter := awaitLetters(t, n, c.Name()+".dead", 1)[0]
		if id := next(t, ids); id != "order-7" || letter.Dead.ID != "order-7" || letter.ID == "order-7" {
			t.Errorf("round %d: handled as %q; the letter %q is of %q", round, id, letter.ID, letter.Dead.ID)
		}
		mended.Store(round == 2)
		if replayed, err := channel.Replay(t.Context(), n, c.Name()+".dead", letter.Key); replayed != 1 || err != nil {
			t.Fatal(replayed, err)
		}
	}
	if id := next(t, ids); id != "order-7" {
		t.Errorf("in the end it is handled as %q", id)
	}
	awaitLetters(t, n, c.Name()+".dead", 0)
}

func TestAChannelOfMessagesIsNotTakenForOneOfDeadLetters(t *testing.T) {
	c := parcels(t)
	s := sabir.NewService("billing")
	c.Consume(s, func(context.Context, article) error { return nil })
	n := channelNode(t, s)
	publish(t, c, n, 1)
	for name, try := range map[string]func() error{
		"listed":   func() error { _, err := channel.DeadLetters(t.Context(), n, c.Name(), 10); return err },
		"replayed": func() error { _, err := channel.Replay(t.Context(), n, c.Name()); return err },
		"deleted":  func() error { _, err := channel.DeleteDeadLetters(t.Context(), n, c.Name(), "1"); return err },
	} {
		if err := try(); !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "NoChannels", "")) || !strings.Contains(err.Error(), c.Name()+".dead") {
			t.Errorf("its messages are %s: %v", name, err)
		}
	}
	list, err := channel.List(t.Context(), n)
	if err != nil || list[0].Name != c.Name() || list[0].Kept != 1 || list[0].Dead {
		t.Errorf("%+v, %v", list, err)
	}
}
