package channels_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/engine"
)

// lines gets each line of a log.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// RabbitMQ has one code for a queue that is not there and for one whose node is down, or has not started it yet.
func TestAQueueThatCannotBeUsedNowIsNotTakenForOneThatIsLost(t *testing.T) {
	brokers.Slow(t)
	server := brokers.ForTestShared(t, brokers.RabbitMQ)
	log := make(lines, 100)
	s, err := engine.Open(t.Context(), server.URL(), engine.Config{Name: "unusable", Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Declare(t.Context(), engine.Spec{Name: "orders"}); err != nil {
		t.Fatal(err)
	}
	state := func(state string) {
		control(t, server, "eval", fmt.Sprintf(`rabbit_misc:execute_mnesia_transaction(fun() -> rabbit_amqqueue:update(
			rabbit_misc:r(<<"/">>, queue, <<"sabir:log:orders">>), fun(Q) -> amqqueue:set_state(Q, %s) end) end).`, state))
	}
	state("crashed")
	control(t, server, "close_all_connections", "the test ends them")
	for limit := time.After(time.Minute); ; {
		var line string
		select {
		case line = <-log:
		case <-limit:
			t.Fatal("it has not connected again within a minute")
		}
		if strings.Contains(line, "has lost") {
			t.Errorf("the log says of a queue that is there: %s", line)
		}
		if strings.Contains(line, "is back") {
			break
		}
	}
	state("live")
	m := &engine.Outgoing{Message: engine.Message{Head: engine.Head{ID: "1", Time: time.Now()}}}
	if s.Publish(t.Context(), "orders", []*engine.Outgoing{m}); m.Err != nil {
		t.Errorf("when the queue can be used again: %v", m.Err)
	}
}
