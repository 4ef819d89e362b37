package channel_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/engine"
)

// The scheme "refusing" is a broker in memory that refuses what the test says.
func init() { engine.Register("refusing", refusing{}) }

type refusing struct{}

// refusals has the rule of each test: what Publish answers for a message of a channel; nil is for one that is kept.
var refusals sync.Map

type refusingStore struct {
	engine.Store
	refuse func(name string, m *engine.Outgoing) error
}

func (refusing) Open(ctx context.Context, at *url.URL, config engine.Config) (engine.Store, error) {
	refuse, _ := refusals.Load(at.Host)
	st, err := engine.Open(ctx, "mem://"+at.Host, config)
	return &refusingStore{st, refuse.(func(string, *engine.Outgoing) error)}, err
}

func (s *refusingStore) Publish(ctx context.Context, name string, batch []*engine.Outgoing) {
	for _, m := range batch {
		if m.Err = s.refuse(name, m); m.Err == nil {
			s.Store.Publish(ctx, name, []*engine.Outgoing{m})
		}
	}
}

// refusingNode is a node whose broker refuses what refuse gives an error for.
func refusingNode(t *testing.T, refuse func(name string, m *engine.Outgoing) error, services ...sabir.Servable) *sabir.Node {
	t.Helper()
	host := strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
	refusals.Store(host, refuse)
	return startNode(t, sabir.NodeID("refused"), channel.Broker("refusing://"+host), sabir.Serve(services...))
}

var errNoRight = errors.New("no right to publish")

func TestAMessageThatTheBrokerDoesNotKeepIsAnErrorOfPublish(t *testing.T) {
	n := refusingNode(t, func(string, *engine.Outgoing) error { return errNoRight })
	if _, err := parcels(t).Publish(t.Context(), n, article{ID: 1}); !errors.Is(err, errNoRight) {
		t.Errorf("got %v", err)
	}
}

func TestOfMessagesOfWhichTheBrokerKeepsSomeOnlyThoseHaveAReceipt(t *testing.T) {
	number := 0
	n := refusingNode(t, func(string, *engine.Outgoing) error {
		if number++; number == 2 {
			return errNoRight
		}
		return nil
	})
	receipts, err := parcels(t).PublishAll(t.Context(), n, []article{{ID: 1}, {ID: 2}, {ID: 3}})
	if !errors.Is(err, errNoRight) || len(receipts) != 3 || receipts[0].ID == "" || receipts[1].ID != "" || receipts[2].ID == "" {
		t.Errorf("%+v, %v", receipts, err)
	}
}

// The others are kept already: sent again, they would be handled twice.
func TestOnlyWhatTheBrokerHasNotKeptIsPublishedAgain(t *testing.T) {
	number, kept := 0, 0
	n := refusingNode(t, func(string, *engine.Outgoing) error {
		if number++; number == 2 {
			return engine.ErrUnreachable
		}
		kept++
		return nil
	})
	receipts, err := parcels(t).PublishAll(t.Context(), n, []article{{ID: 1}, {ID: 2}, {ID: 3}})
	if err != nil || kept != 3 || number != 4 {
		t.Errorf("%d messages were kept in %d attempts: %+v, %v", kept, number, receipts, err)
	}
}

// A message that was reported handled before its dead letter is kept would be nowhere.
func TestAMessageIsHandledOnlyWhenItsDeadLetterIsKept(t *testing.T) {
	c := parcels(t)
	s := sabir.NewService("billing")
	c.ConsumeWith(s, fast, func(context.Context, article) error { return channel.Reject(errNoRight) })
	refused := make(chan bool, 1)
	var once sync.Once
	n := refusingNode(t, func(name string, _ *engine.Outgoing) (err error) {
		if strings.HasSuffix(name, ".dead") {
			once.Do(func() { err = errNoRight; refused <- true })
		}
		return err
	}, s)
	publish(t, c, n, 1)
	next(t, refused)
	awaitLetters(t, n, c.Name()+".dead", 1)
}

func TestAnErrorOfTheBrokersAddressDoesNotShowItsPassword(t *testing.T) {
	for _, address := range []string{"mem://user:hunter2@place", "nowhere://user:hunter2@place", "mem://user:hunter2%zz@place"} {
		err := sabir.NewNode(sabir.Logger(quiet), channel.Broker(address)).Start(t.Context())
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
}
