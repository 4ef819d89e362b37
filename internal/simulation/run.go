package simulation

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
)

// Bounds of simulated time.
const (
	// agreeWithin is the time after the last fault in which all nodes must know what all offer. Seeds are visited at least
	// every 30 s, failed members every 15 s.
	agreeWithin = 45 * time.Second
	// quiet is the time after the last fault in which nodes notice that a link leads nowhere any more: calls over it still fail.
	quiet      = 20 * time.Second
	stopWithin = 30 * time.Second
)

// Run plays a history inside a bubble of testing/synctest, and returns what must not be.
func Run(h History, log *slog.Logger) []string {
	w := newWorld(h, log)
	running.Store(w.network)
	if h.Broker {
		w.broker = startBroker(w.network)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w.startAll(ctx)
	w.play(ctx)
	time.Sleep(quiet)
	if took := w.agree("after the last fault"); len(w.record.faults) == 0 {
		log.Info("simulation: all agree", "after", took)
		w.finalRound(ctx)
		w.finalSingle(ctx)
		if !w.history.Sparse {
			w.finalAccounts(ctx)
			w.finalProcesses()
		}
		for _, check := range w.checks {
			check()
		}
	}
	w.stopAll()
	return w.record.faults
}

func (w *world) startAll(ctx context.Context) {
	r := rand.New(rand.NewPCG(w.history.Seed, 3))
	together := r.IntN(2) == 0
	var starting sync.WaitGroup
	for _, m := range w.members {
		if !together {
			m.start(ctx)
			continue
		}
		starting.Go(func() { m.start(ctx) })
	}
	starting.Wait()
}

// agree waits until all nodes know what all offer.
func (w *world) agree(when string) time.Duration {
	began := time.Now().Add(-quiet)
	for {
		wrong := w.difference()
		took := time.Since(began)
		switch {
		case wrong == "":
			return took
		case took > agreeWithin:
			w.record.fail("%v %s: %s", took, when, wrong)
			return took
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// play does the steps at their times, and returns when all are over and nothing is broken any more.
func (w *world) play(ctx context.Context) {
	began := time.Now()
	for _, s := range w.history.Steps {
		time.Sleep(s.At - time.Since(began))
		w.log.Info("simulation: step", "number", s.Number, "step", s.String())
		w.running.Go(func() { w.do(ctx, s) })
	}
	w.running.Wait()
}

func (w *world) do(ctx context.Context, s Step) {
	m, other := w.members[s.Node], w.members[s.Other]
	net, end := w.network, other.name // of the way that a fault of the network befalls
	if w.history.Broker {
		end = brokerName
	}
	switch s.Kind {
	case Call, CallIdempotent, CallSingle:
		w.call(ctx, m, s)
	case Stream:
		w.stream(ctx, m, s)
	case Emit:
		w.emit(ctx, m, s)
	case AddService, RemoveService:
		m.changeExtra(ctx, s.Kind == AddService)
	case Note:
		w.note(m, other, s)
	case Ask:
		w.ask(ctx, m, other, s)
	case Monitor:
		w.monitor(m, other, s)
	case Link:
		w.link(m, other, s)
	case Pay:
		w.pay(ctx, m, s)
	case Cut, Hold, Slow:
		w.during(s, [2]string{m.name, end}, [2]string{end, m.name})
	case HoldOne:
		w.during(s, [2]string{m.name, end})
	case Stall:
		ways := [][2]string{{m.name, brokerName}, {brokerName, m.name}, {m.name, storeName}, {storeName, m.name}}
		for _, o := range w.members {
			if o != m {
				ways = append(ways, [2]string{m.name, o.name}, [2]string{o.name, m.name})
			}
		}
		w.during(s, ways...)
	case Reset:
		net.reset(between(m.name, end))
	case HalfOpen:
		net.halfOpen(m.name, between(m.name, end))
	case NoBroker:
		w.stopBroker(s.For)
	case NoStore:
		net.end(storeName, killed)
		time.Sleep(s.For)
		net.begin(storeName)
	case Restart:
		m.restart(ctx, s.For)
	case Kill:
		m.crash(ctx, s.For, killed)
	case Vanish:
		m.crash(ctx, s.For, vanished)
	}
}

// during has a fault of paths last as long as its step says.
func (w *world) during(s Step, ways ...[2]string) {
	for _, way := range ways {
		w.network.apply(s.Kind, way[0], way[1], 1)
	}
	if s.Kind == Cut {
		w.network.reset(between(ways[0][0], ways[0][1]))
	}
	time.Sleep(s.For)
	for _, way := range ways {
		w.network.apply(s.Kind, way[0], way[1], -1)
	}
}

func (m *member) restart(ctx context.Context, pause time.Duration) {
	m.changing <- struct{}{}
	defer func() { <-m.changing }()
	if i := m.take(); i != nil {
		m.stop(i.node, stopWithin)
		time.Sleep(pause)
		m.start(ctx)
	}
}

// stop stops a node. Its error counts where nothing was broken meanwhile, so it is not looked at here.
func (m *member) stop(n *sabir.Node, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return n.Stop(ctx)
}

func (m *member) crash(ctx context.Context, pause time.Duration, kind downKind) {
	m.changing <- struct{}{}
	defer func() { <-m.changing }()
	i := m.take()
	if i == nil {
		return
	}
	i.store.gone.Store(true)
	m.world.network.end(m.name, kind)
	m.stop(i.node, time.Second) // what is left of it in this process; nobody is reached by it
	time.Sleep(pause)
	m.world.network.begin(m.name)
	m.start(ctx)
}

func (m *member) changeExtra(ctx context.Context, add bool) {
	m.changing <- struct{}{}
	defer func() { <-m.changing }()
	i := m.current()
	if i == nil || (m.extra != nil) == add {
		return
	}
	n := i.node
	ctx, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	s := m.extra
	var err error
	if add {
		s = sabir.NewService("extra")
		sabir.Handle(s, "once", m.serve)
		err = n.Add(ctx, s)
	} else {
		err = n.Remove(ctx, s)
		s = nil
	}
	if err != nil {
		m.world.record.fail("%s adds or removes a service: %v", m.name, err)
		return
	}
	m.mu.Lock()
	m.extra = s
	m.mu.Unlock()
}

// callContext is the context of a step's call.
func (s Step) callContext(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := s.For
	if limit == 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	if s.Cancel > 0 {
		stop := time.AfterFunc(s.Cancel, cancel)
		return ctx, func() { stop.Stop(); cancel() }
	}
	return ctx, cancel
}

func (w *world) call(ctx context.Context, m *member, s Step) {
	i := m.current()
	if i == nil {
		return
	}
	n := i.node
	ctx, cancel := s.callContext(ctx)
	defer cancel()
	action := "base.once"
	switch r := s.Number % 4; {
	case s.Kind == CallSingle:
		action = singleName + ".write"
	case s.Kind == CallIdempotent:
		action = "base.again"
	case r == 1:
		action = "own-" + w.members[s.Size%len(w.members)].name + ".once"
	case r == 2:
		action = "extra.once"
	}
	in := request{ID: w.record.id(), Work: s.Work, Pad: make([]byte, s.Size)}
	out, err := sabir.Call[answer](ctx, n, action, in)
	if err == nil && (out.ID != in.ID || out.Pad != len(in.Pad)) {
		w.record.fail("step %d: the answer to call %d with %d bytes is %+v", s.Number, in.ID, len(in.Pad), out)
	}
	w.later(func() {
		times := w.record.handledOf(in.ID)
		switch {
		case err == nil && times == 0:
			w.record.fail("step %d: %s was answered and not handled", s.Number, action)
		case s.Kind != CallIdempotent && times > 1:
			w.record.fail("step %d: %s was handled %d times", s.Number, action, times)
		case s.Kind != CallIdempotent && err != nil && times > 0 && sabir.AsError(err).Retryable:
			w.record.fail("step %d: %s was handled, and failed with an error that is retryable: %v", s.Number, action, err)
		}
	})
}

// later adds a check for when all is quiet.
func (w *world) later(check func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checks = append(w.checks, check)
}

func (w *world) stream(ctx context.Context, m *member, s Step) {
	i := m.current()
	if i == nil {
		return
	}
	n := i.node
	ctx, cancel := s.callContext(ctx)
	defer cancel()
	in := request{ID: w.record.id(), Work: s.Work, Pad: make([]byte, min(s.Size, 2000))}
	next := 0
	var failed error
	for out, err := range sabir.CallStream[answer](ctx, n, "base.count", in) {
		if err != nil {
			failed = err
			break
		}
		if out.ID != in.ID || out.Pad != next {
			w.record.fail("step %d: value %d of stream %d is %+v", s.Number, next, in.ID, out)
			return
		}
		next++
	}
	if failed == nil && next != len(in.Pad) {
		w.record.fail("step %d: a stream of %d values ended without error after %d", s.Number, len(in.Pad), next)
	}
	w.later(func() {
		if times := w.record.handledOf(in.ID); times > 1 {
			w.record.fail("step %d: the stream was handled %d times", s.Number, times)
		}
	})
}

func (w *world) emit(ctx context.Context, m *member, s Step) {
	i := m.current()
	if i == nil {
		return
	}
	n := i.node
	ctx, cancel := s.callContext(ctx)
	defer cancel()
	in := request{ID: w.record.id(), Work: s.Work, Pad: make([]byte, s.Size)}
	before := known(n)
	err := sabir.Emit(ctx, n, "thing.happened", in)
	after := known(n)
	w.later(func() {
		for _, group := range []string{everywhere, somewhere} {
			times := w.record.receivedBy(in.ID, group)
			if times > 1 {
				w.record.fail("step %d: group %s got an event %d times", s.Number, group, times)
			}
			if err == nil && times == 0 && group == everywhere { // the emitter is of the group
				w.record.fail("step %d: group %s did not get an event that was accepted; known were %v, then %v", s.Number, group, before, after)
			}
		}
	})
}

// finalRound has each node call each other and emit an event, when nothing is broken: all of that must be done.
func (w *world) finalRound(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, from := range w.members {
		i := from.current()
		if i == nil {
			continue
		}
		n := i.node
		for _, to := range w.members {
			in := request{ID: w.record.id()}
			out, err := sabir.Call[answer](ctx, n, "own-"+to.name+".once", in)
			if err != nil || out.ID != in.ID || out.Node != to.name || w.record.handledOf(in.ID) != 1 {
				w.record.fail("when all is quiet, %s calls %s: %+v, %v, handled %d times", from.name, to.name, out, err, w.record.handledOf(in.ID))
			}
		}
		in := request{ID: w.record.id()}
		err := sabir.Emit(ctx, n, "thing.happened", in)
		for _, group := range []string{everywhere, somewhere} {
			if times := w.record.receivedBy(in.ID, group); err != nil || times != 1 {
				w.record.fail("when all is quiet, %s emits: %v, and group %s got it %d times", from.name, err, group, times)
			}
		}
	}
}

// stopAll stops all nodes, of which nothing may be left.
func (w *world) stopAll() {
	var stopping sync.WaitGroup
	for _, m := range w.members {
		stopping.Go(func() {
			m.changing <- struct{}{}
			defer func() { <-m.changing }()
			i := m.take()
			if i == nil {
				return
			}
			n := i.node
			if load := n.Info().Load; load.InFlight != 0 {
				w.record.fail("when all is quiet, %s has %d calls in flight", m.name, load.InFlight)
			}
			if err := m.stop(n, stopWithin); err != nil && !errors.Is(err, context.Canceled) {
				w.record.fail("%s does not stop in order: %v", m.name, err)
			}
		})
	}
	stopping.Wait()
	if w.broker != nil {
		w.broker.stop()
	}
	time.Sleep(time.Minute) // probes and dials that were under way end
	if left := w.network.connections(); left > 0 {
		w.record.fail("%d connections are left", left)
	}
}
