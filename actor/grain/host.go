package grain

import (
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/sabir-go/sabir/actor"
)

// host is the process of a node that the other nodes know as "$grains". It sends them what the node serves, learns what they
// serve, and takes what they send to grains here; it never waits for any of them.
type host struct {
	g       *Grains
	serving map[string][]string // nodes to kinds
	leaving bool
	awaited map[string]bool // nodes that have not acknowledged the farewell yet
	stop    actor.Request   // the call of finish
}

// hello sends another node's host what this node serves. It goes in the same queue as a NodeChange, so that it is never
// handled after the loss of the node that it came from.
type hello struct {
	Kinds  []string
	Answer bool // with a hello
	Over   bool // the last message: nothing is there to answer any more
}

type (
	farewell struct{} // the call that begins the end
	finish   struct{} // the call that ends the process
	finished struct{} // behind what came before that
)

func init() { actor.Register[hello]() }

func (g *Grains) startProcesses() error {
	handlers := []actor.Handler[host]{
		actor.OnMessage((*host).Hello), actor.OnMessage((*host).Node), actor.OnMessage((*host).Exit), actor.OnMessage((*host).Finished),
		actor.OnCall((*host).Farewell), actor.OnCall((*host).Finish),
	}
	type of struct {
		of    reflect.Type
		calls bool
	}
	known := map[of]bool{}
	for _, k := range g.kinds {
		for _, h := range k.hosts {
			if what := (of{h.of, h.calls}); !known[what] {
				known[what] = true
				handlers = append(handlers, h.handler)
			}
		}
	}
	if _, twice := bySystem.Load(g.system); twice {
		return fmt.Errorf("grain: the system has grains already: give all kinds to one grain.New")
	}
	janitor, err := actor.Spawn(g.system, janitors, g)
	if err != nil {
		return err
	}
	g.janitor, g.self = janitor.PID(), janitor.PID().Node()
	g.publish(map[string][]string{g.self: g.served()})
	bySystem.Store(g.system, g)
	pid, err := actor.Spawn(g.system, actor.Define("grains", (*host).Init, handlers...), g, actor.SpawnConfig{Name: hostName, Mailbox: coreMailbox})
	if err != nil {
		bySystem.CompareAndDelete(g.system, g)
		_ = actor.Kill(g.system, janitor)
		return err
	}
	g.host = pid.PID()
	return nil
}

func (g *Grains) served() []string { return slices.Sorted(maps.Keys(g.kinds)) }

// publish makes a new view, and sees to the activations that belong elsewhere by it.
func (g *Grains) publish(serving map[string][]string) {
	before := g.view.Swap(newView(g.self, g.among, serving))
	if before != nil {
		close(before.changed)
		_ = actor.Send(g.system, g.janitor, moveOthers{})
	}
}

// Init begins to learn what others serve.
func (h *host) Init(p *actor.Process, g *Grains) error {
	h.g, h.serving = g, map[string][]string{g.self: g.served()}
	p.MonitorNode("")
	return nil
}

// Node sends a node that has come what this one serves, and forgets one that is lost.
func (h *host) Node(p *actor.Process, n actor.NodeChange) error {
	if n.Up {
		h.greet(p, n.Node, true)
	} else if n.Node != h.g.self {
		h.forget(n.Node)
	}
	return nil
}

func (h *host) greet(p *actor.Process, node string, answer bool) {
	h.say(p, node, hello{Kinds: h.serving[h.g.self], Answer: answer})
}

func (h *host) say(p *actor.Process, node string, m hello) {
	// Where that node has no grains yet, it will ask when it has. Where it is lost, so is this.
	_ = actor.SendPriority(p, actor.Name{Name: hostName, Node: node}, actor.PrioritySystem, m)
}

// Hello learns what a node serves.
func (h *host) Hello(p *actor.Process, m hello) error {
	node := p.Sender().Node()
	if node == "" || node == h.g.self {
		return nil
	}
	if m.Over {
		h.forget(node)
		return nil
	}
	if known, ok := h.serving[node]; !ok || !slices.Equal(known, m.Kinds) {
		h.serving[node] = m.Kinds
		h.g.publish(h.serving)
	}
	if m.Answer { // behind all that was sent by the view before
		h.greet(p, node, false)
	}
	h.heardFrom(node)
	return nil
}

// heardFrom notes that a node has acknowledged this one's farewell, or is lost.
func (h *host) heardFrom(node string) {
	delete(h.awaited, node)
	if h.leaving && len(h.awaited) == 0 {
		h.g.reportedOnce.Do(func() { close(h.g.reported) })
	}
}

func (h *host) forget(node string) {
	if _, ok := h.serving[node]; ok {
		delete(h.serving, node)
		h.g.publish(h.serving)
	}
	h.heardFrom(node)
}

// Farewell takes the node out of the hosts of grains, so that its grains move to other nodes.
func (h *host) Farewell(p *actor.Process, _ farewell) (struct{}, error) {
	h.leave(p)
	return struct{}{}, nil
}

func (h *host) leave(p *actor.Process) {
	if h.leaving {
		return
	}
	h.leaving, h.awaited = true, map[string]bool{}
	h.serving[h.g.self] = nil
	for node := range h.serving {
		if node != h.g.self {
			h.awaited[node] = true
			h.greet(p, node, true)
		}
	}
	h.heardFrom(h.g.self)
	h.g.publish(h.serving)
	h.g.leaving.Store(true) // after that nothing is activated here, so none that has gone is followed by another
	h.g.left(h.g.directory.count.Load())
}

// Exit is the end of the system, or a request of another process: the same, without waiting.
func (h *host) Exit(p *actor.Process, e actor.Exit) error {
	if e.Reason == error(actor.ErrNormal) {
		return nil
	}
	h.leave(p)
	return e.Reason
}

// Finish ends the process, when it has answered what came to it by its name.
func (h *host) Finish(p *actor.Process, _ finish) (struct{}, error) {
	h.stop = p.Request()
	p.Unregister()
	if err := actor.SendPriority(p, p.PID(), actor.PriorityNormal, finished{}); err != nil {
		return struct{}{}, err
	}
	return struct{}{}, actor.ErrNoReply
}

// Finished is the end.
func (h *host) Finished(p *actor.Process, _ finished) error {
	for node := range h.serving {
		if node != h.g.self {
			h.say(p, node, hello{Over: true})
		}
	}
	actor.Reply(p, h.stop, struct{}{})
	return actor.ErrNormal
}

// routed is a message or a call for a grain of another node.
type routed[In any] struct {
	Kind, Key string
	Hops      uint8
	Message   In
}

// important is a routed whose sender waits for the confirmation that it has come.
type important[In any] struct {
	Kind, Key string
	Message   In
}

// hostCall takes a call for a grain.
func hostCall[In any](h *host, p *actor.Process, r routed[In]) (struct{}, error) {
	g, held := h.g, p.Pending()
	hand := func(from actor.Sender, a *activation) {
		if err := a.takes(reflect.TypeFor[In](), true); err != nil {
			a.unpin()
			held.Request().Fail(from, err)
		} else if actor.Redeliver(from, held, a.pid, grainMessage[In]{in: r.Message}) != nil {
			go g.directory.dead(a) // not here: the shard may be locked
		}
	}
	a, err := g.directory.enter(Address{r.Kind, r.Key}, func(a *activation, err error) {
		if err != nil {
			held.Request().Fail(g.system, err)
			return
		}
		hand(g.system, a)
	})
	if err != nil {
		return struct{}{}, err
	}
	if a != nil {
		hand(p, a)
	}
	return struct{}{}, actor.ErrNoReply
}

// hostMessage takes a message for a grain, and sends it on where that is elsewhere.
func hostMessage[M any](h *host, p *actor.Process, r routed[M]) error {
	g, held := h.g, p.Pending()
	a, err := g.directory.enter(Address{r.Kind, r.Key}, func(a *activation, err error) {
		if err != nil {
			reroute(g, r, err)
			return
		}
		_ = put(g.system, held, a, r.Message, r.Hops) // counted
	})
	if err != nil {
		reroute(g, r, err)
	} else if a != nil {
		_ = put(p, held, a, r.Message, r.Hops) // counted
	}
	return nil
}

// hostImportant is hostMessage whose sender waits until the message is in the grain's mailbox.
func hostImportant[M any](h *host, p *actor.Process, r important[M]) (struct{}, error) {
	g, held := h.g, p.Pending()
	arrived := func(from actor.Sender, a *activation, err error) {
		if err == nil {
			err = put(from, held.Message(), a, r.Message, 0)
		}
		if err != nil {
			held.Request().Fail(from, err)
		} else {
			actor.Reply(from, held.Request(), struct{}{})
		}
	}
	a, err := g.directory.enter(Address{r.Kind, r.Key}, func(a *activation, err error) { arrived(g.system, a, err) })
	if a != nil || err != nil {
		arrived(p, a, err)
	}
	return struct{}{}, actor.ErrNoReply
}

// put puts a message into the mailbox of an activation that was pinned for it.
func put[M any](from actor.Sender, held actor.Pending, a *activation, m M, hops uint8) error {
	err := a.takes(reflect.TypeFor[M](), false)
	if err != nil {
		a.unpin()
	} else if err = actor.Redeliver(from, held, a.pid, grainMessage[M]{m, hops}); err != nil {
		go a.grains.directory.dead(a) // not here: the shard may be locked
	}
	if err != nil {
		a.grains.discard(a.address, err)
	}
	return err
}

// maxHops bounds how often a message that no caller waits for is sent on before it is lost, which takes some four seconds.
const maxHops = 12

// reroute sends a message that was not handled here to where the grain is now. Only the first time it goes at once: what
// comes back finds that the nodes do not agree yet.
func reroute[M any](g *Grains, r routed[M], why error) {
	r.Hops++
	owner, err := g.view.Load().owner(Address{r.Kind, r.Key})
	if !moved(why) || r.Hops > maxHops {
		g.discard(Address{r.Kind, r.Key}, why)
		return
	}
	if err != nil {
		owner = g.self
	}
	to := actor.Name{Name: hostName, Node: owner}
	if r.Hops > 1 || err != nil {
		actor.SendAfter(g.system, to, time.Millisecond<<r.Hops, r)
	} else if err = actor.Send(g.system, to, r); err != nil {
		g.discard(Address{r.Kind, r.Key}, err)
	}
}

// discard reports the loss of a message that no caller waits for.
func (g *Grains) discard(of Address, err error) {
	g.counts.discarded.Add(1)
	slog.Warn("a message to a grain was lost", "grain", of.String(), "error", err)
}
