package policy_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/policy"
)

type change struct {
	Item  string
	Price int
}

// listener is a node with a handler of changes behind a policy, which notes what it gets.
type listener struct {
	node   *sabir.Node
	log    bytes.Buffer
	mu     sync.Mutex
	prices []int
}

func (l *listener) note(price int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prices = append(l.prices, price)
}

func (l *listener) got() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.prices)
}

func listen(t *testing.T, p sabir.Wrapper, handle func(context.Context, change) error, options ...sabir.EventOption) *listener {
	t.Helper()
	l := &listener{}
	s := sabir.NewService("screen")
	sabir.On(s, "price.*", func(ctx context.Context, c change) error {
		if handle != nil {
			if err := handle(ctx, c); err != nil {
				return err
			}
		}
		l.note(c.Price)
		return nil
	}, append(options, sabir.Use(p))...)
	l.node = start(t, sabir.Serve(s), sabir.Logger(slog.New(slog.NewTextHandler(&l.log, nil))))
	return l
}

func (l *listener) emit(t *testing.T, item string, price int) {
	t.Helper()
	if err := sabir.Emit(t.Context(), l.node, "price.changed", change{item, price}); err != nil {
		t.Error(err)
	}
}

func (l *listener) wants(t *testing.T, prices ...int) {
	t.Helper()
	bubbletest.Wait()
	if got := l.got(); !slices.Equal(got, prices) {
		t.Errorf("handled %v, want %v", got, prices)
	}
}

// startWith starts a node with a service whose handler has the policy, and stops it again.
func startWith(t *testing.T, declare func(*sabir.Service, sabir.Wrapper), p sabir.Wrapper) error {
	s := sabir.NewService("screen")
	declare(s, p)
	node := sabir.NewNode(sabir.Serve(s), channel.Broker("mem://policies"), sabir.Logger(slog.New(slog.DiscardHandler)))
	err := node.Start(t.Context())
	if err == nil {
		stop(t, node)
	}
	return err
}

func onPrices(s *sabir.Service, p sabir.Wrapper) {
	sabir.On(s, "price.*", func(context.Context, change) error { return nil }, sabir.Use(p))
}

func byItem(e *sabir.Event) string { return e.Payload().(*change).Item }

func TestThrottleHandlesOneEventAndLeavesOutThoseThatComeTooSoon(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := listen(t, policy.Throttle{Every: time.Second}, nil)
		for price := range 25 { // of which each tenth comes a second after the one before
			l.emit(t, "a", price)
			time.Sleep(100 * time.Millisecond)
		}
		l.wants(t, 0, 10, 20)
	})
}

func TestThrottleCountsByKey(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := listen(t, policy.Throttle{Every: time.Second, Key: byItem}, nil)
		for price, item := range []string{"a", "a", "b", "b", "c"} {
			l.emit(t, item, price)
		}
		l.wants(t, 0, 2, 4)
	})
}

func TestThrottleOfAChannelLosesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		prices := channel.New[change]("prices")
		s := sabir.NewService("screen")
		times := make(chan time.Duration, 4)
		begun := time.Now()
		prices.ConsumeWith(s, channel.Consumer{Use: []sabir.Wrapper{policy.Throttle{Every: time.Second}}}, func(context.Context, change) error {
			times <- time.Since(begun).Round(100 * time.Millisecond)
			return nil
		})
		node := start(t, sabir.Serve(s), channel.Broker("mem://throttled"), sabir.Logger(slog.New(slog.DiscardHandler)))
		for range 4 {
			if _, err := prices.Publish(t.Context(), node, change{}); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 4 {
			if got := <-times; got != time.Duration(n)*time.Second {
				t.Errorf("message %d after %v", n, got)
			}
		}
	})
}

func TestDebounceHandlesTheLastEventOnceNoneHasComeForAWhile(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := listen(t, policy.Debounce{Wait: time.Second}, nil)
		for price := range 5 {
			l.emit(t, "a", price)
			time.Sleep(900 * time.Millisecond)
		}
		l.wants(t)
		time.Sleep(100 * time.Millisecond)
		l.wants(t, 4)
		l.emit(t, "a", 5)
		time.Sleep(time.Second)
		l.wants(t, 4, 5)
	})
}

func TestDebounceWaitsNoLongerThanItsBoundWhileEventsFollow(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := listen(t, policy.Debounce{Wait: time.Second, MaxWait: 3 * time.Second}, nil)
		for price := range 8 {
			l.emit(t, "a", price)
			time.Sleep(900 * time.Millisecond)
		}
		l.wants(t, 3, 7)
	})
}

func TestDebounceKeepsTheLastEventOfEachKeyAndHandlesThoseAboveItsBoundAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := listen(t, policy.Debounce{Wait: time.Second, Key: byItem, MaxKeys: 2}, nil)
		for price, item := range []string{"a", "b", "a", "c"} {
			l.emit(t, item, price)
		}
		l.wants(t, 3)
		time.Sleep(time.Second)
		bubbletest.Wait()
		got := l.got()
		if slices.Sort(got); !slices.Equal(got, []int{1, 2, 3}) {
			t.Errorf("handled %v", got)
		}
	})
}

func TestWhatDebounceHoldsBackIsHandledWhenTheServiceStops(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for name, options := range map[string][]sabir.EventOption{"at once": nil, "buffered": {sabir.Delivery{Buffer: 4}}} {
			l := listen(t, policy.Debounce{Wait: time.Hour}, nil, options...)
			l.emit(t, "a", 1)
			l.emit(t, "a", 2)
			stop(t, l.node)
			if got := l.got(); !slices.Equal(got, []int{2}) {
				t.Errorf("%s: handled %v", name, got)
			}
		}
	})
}

func TestAHandlerBehindDebounceHasWhatMiddlewaresPutIntoItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		type traceKey struct{}
		traced := sabir.Middleware{Name: "traced", Event: func(_ *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
			return func(ctx context.Context, e *sabir.Event) error {
				ctx, cancel := context.WithCancel(context.WithValue(ctx, traceKey{}, "t-1"))
				defer cancel()
				return next(ctx, e)
			}
		}}
		s := sabir.NewService("screen")
		handled := make(chan context.Context, 1)
		sabir.On(s, "item.changed", func(ctx context.Context, _ change) error {
			handled <- ctx
			return ctx.Err()
		}, sabir.Use(policy.Debounce{Wait: time.Second}))
		node := start(t, sabir.Serve(s), sabir.Use(traced))
		if err := sabir.Emit(sabir.WithRequestID(t.Context(), "r-1"), node, "item.changed", change{}); err != nil {
			t.Fatal(err)
		}
		ctx := <-handled
		if ctx.Value(traceKey{}) != "t-1" || ctx.Err() != nil || sabir.InfoFromContext(ctx).RequestID != "r-1" || sabir.InfoFromContext(ctx).Event != "item.changed" {
			t.Errorf("trace %v, %v, %+v", ctx.Value(traceKey{}), ctx.Err(), sabir.InfoFromContext(ctx))
		}
	})
}

func TestAnErrorOrPanicOfAHandlerBehindDebounceIsInTheLog(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := listen(t, policy.Debounce{Wait: time.Second, Key: byItem}, func(_ context.Context, c change) error {
			if c.Item == "b" {
				panic("no paint")
			}
			return errors.New("no canvas")
		})
		l.emit(t, "a", 1)
		l.emit(t, "b", 1)
		time.Sleep(time.Second)
		bubbletest.Wait()
		for _, want := range []string{"no canvas", "panicked"} {
			if text := l.log.String(); strings.Count(text, want) != 1 || !strings.Contains(text, "pattern=price.*") {
				t.Errorf("want %q once in\n%s", want, text)
			}
		}
	})
}

func TestTimeoutOfAHandlerAnswersTheEmitterThoughTheHandlerNeverReturns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		release := make(chan struct{})
		l := listen(t, policy.Timeout(time.Second), func(context.Context, change) error { <-release; return nil })
		begun := time.Now()
		l.emit(t, "a", 1)
		if took := time.Since(begun); took != time.Second || !strings.Contains(l.log.String(), "DeadlineExceeded") {
			t.Errorf("after %v; the log says\n%s", took, &l.log)
		}
		close(release)
		l.wants(t, 1)
	})
}

func TestTimeoutLeavesAHandlerAloneThatIsFastEnough(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := listen(t, policy.Timeout(time.Second), func(_ context.Context, c change) error {
			if c.Price == 2 {
				return errors.New("no canvas")
			}
			return nil
		})
		l.emit(t, "a", 1)
		l.emit(t, "a", 2)
		l.wants(t, 1)
		if !strings.Contains(l.log.String(), "no canvas") {
			t.Errorf("the log lacks the handler's error:\n%s", &l.log)
		}
	})
}

func TestAMessageWhoseHandlerRunsPastItsTimeoutComesAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		prices := channel.New[change]("slow.prices")
		s := sabir.NewService("screen")
		attempts := make(chan int, 2)
		prices.ConsumeWith(s, channel.Consumer{Use: []sabir.Wrapper{policy.Timeout(time.Second)}}, func(ctx context.Context, _ change) error {
			d, _ := channel.DeliveryFromContext(ctx)
			attempts <- d.Attempt
			if d.Attempt == 1 {
				<-ctx.Done()
			}
			return ctx.Err()
		})
		node := start(t, sabir.Serve(s), channel.Broker("mem://slow"), sabir.Logger(slog.New(slog.DiscardHandler)))
		if _, err := prices.Publish(t.Context(), node, change{}); err != nil {
			t.Fatal(err)
		}
		if first, second := <-attempts, <-attempts; first != 1 || second != 2 {
			t.Errorf("attempts %d, %d", first, second)
		}
	})
}

func TestBulkheadBoundsTheEventsThatAHandlerHandlesAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		release := make(chan struct{})
		begun := make(chan int, 9)
		l := listen(t, policy.Bulkhead{MaxCalls: 2, MaxQueue: 1, MaxWait: time.Minute}, func(_ context.Context, c change) error {
			begun <- c.Price
			<-release
			return nil
		})
		var emitters sync.WaitGroup
		for price := range 4 {
			emitters.Go(func() { l.emit(t, "a", price) })
		}
		bubbletest.Wait()
		if len(begun) != 2 || strings.Count(l.log.String(), "BulkheadFull") != 1 {
			t.Errorf("%d handlers run; the log says\n%s", len(begun), &l.log)
		}
		close(release)
		emitters.Wait()
		if got := l.got(); len(got) != 3 {
			t.Errorf("handled %v", got)
		}
	})
}

func TestAPolicyThatCannotWorkForAHandlerKeepsItsServiceFromStarting(t *testing.T) {
	prices := channel.New[change]("prices")
	consume := func(s *sabir.Service, p sabir.Wrapper) {
		prices.ConsumeWith(s, channel.Consumer{Use: []sabir.Wrapper{p}}, func(context.Context, change) error { return nil })
	}
	withAction := func(s *sabir.Service, p sabir.Wrapper) {
		sabir.Handle(s, "draw", func(context.Context, change) (change, error) { return change{}, nil })
		s.Use(p)
	}
	withHandler := func(s *sabir.Service, p sabir.Wrapper) {
		onPrices(s, sabir.RequestIDs())
		s.Use(p)
	}
	for _, c := range []struct {
		declare func(*sabir.Service, sabir.Wrapper)
		policy  sabir.Wrapper
		want    string
	}{
		{onPrices, policy.Retry{}, `the middleware "Retry" wraps no events`},
		{consume, policy.Cached{}, `the middleware "Cached" wraps no events`},
		{onPrices, policy.Timeout(0), "policy.Timeout: the limit is 0s"},
		{onPrices, policy.Bulkhead{}, "policy.Bulkhead: MaxCalls is 0"},
		{onPrices, policy.Throttle{}, "policy.Throttle: Every is 0s"},
		{onPrices, policy.Debounce{}, "policy.Debounce: Wait is 0s"},
		{onPrices, policy.Debounce{Wait: time.Second, MaxWait: 1}, "shorter than Wait"},
		{consume, policy.Debounce{Wait: time.Second}, "would lose messages of the channel prices"},
		{withAction, policy.Throttle{Every: time.Second}, "is for one handler of events"},
		{withHandler, policy.Debounce{Wait: time.Second}, "is for one handler of events"},
	} {
		if err := startWith(t, c.declare, c.policy); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v, want %q", c.policy, err, c.want)
		}
	}
}

func TestPoliciesOfAServiceLeaveItsHandlersOfEventsAlone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := sabir.NewService("screen", sabir.Use(policy.Timeout(time.Second), policy.Bulkhead{MaxCalls: 1}))
		sabir.On(s, "price.*", func(ctx context.Context, _ change) error {
			time.Sleep(time.Minute)
			return ctx.Err()
		})
		var log bytes.Buffer
		node := start(t, sabir.Serve(s), sabir.Logger(slog.New(slog.NewTextHandler(&log, nil))))
		if err := sabir.Emit(t.Context(), node, "price.changed", change{}); err != nil || strings.Contains(log.String(), "failed") {
			t.Errorf("%v\n%s", err, &log)
		}
	})
}
