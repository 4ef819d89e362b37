package grain

import (
	"github.com/sabir-go/sabir/actor"
)

// janitor is the process of a node that lets idle grains rest, and ends those that belong elsewhere.
type janitor struct{ g *Grains }

type (
	lookAround struct{} // at all activations, for idle ones
	moveOthers struct{} // at all activations, for those of other nodes
)

var janitors = actor.Define("grains/janitor", (*janitor).Init,
	actor.OnMessage((*janitor).LookAround), actor.OnMessage((*janitor).MoveOthers), actor.OnMessage(func(*janitor, *actor.Process, finished) error { return actor.ErrNormal }))

// Init begins to look.
func (j *janitor) Init(p *actor.Process, g *Grains) error {
	j.g = g
	j.lookLater(p)
	return nil
}

func (j *janitor) lookLater(p *actor.Process) {
	actor.SendAfter(p, p.PID(), j.g.idleAfter/looks, lookAround{})
}

// LookAround lets go of what was not used for long. Each activation decides for itself, so that nothing is lost that comes at
// the same time.
func (j *janitor) LookAround(p *actor.Process, _ lookAround) error {
	j.g.look.Add(1)
	var idle []*activation
	for i := range j.g.directory.shards {
		idle = j.g.directory.shards[i].which(idle[:0], j.g.idle)
		for _, a := range idle {
			if actor.Send(p, a.pid, restIdle{}) != nil {
				j.g.directory.dead(a)
			}
		}
	}
	j.lookLater(p)
	return nil
}

// MoveOthers ends the activations of grains that belong to another node by the newest view.
func (j *janitor) MoveOthers(p *actor.Process, _ moveOthers) error {
	v := j.g.view.Load()
	var others []*activation
	for i := range j.g.directory.shards {
		others = j.g.directory.shards[i].which(others[:0], func(a *activation) bool { return !v.mine(a.address) })
		for _, a := range others {
			if actor.SendPriority(p, a.pid, actor.PrioritySystem, evict{}) != nil {
				j.g.directory.dead(a)
			}
		}
	}
	return nil
}

// which appends the activations of which a condition holds.
func (sh *shard) which(to []*activation, holds func(*activation) bool) []*activation {
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	for _, a := range sh.active {
		if holds(a) {
			to = append(to, a)
		}
	}
	return to
}
