package sabir

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
)

// CallEach calls the action on every node that offers it now, this one included, and yields their answers as they come: an output, or an error
// whose Node says where. Whoever has enough leaves the loop, which ends the calls that are still under way:
//
//	for found, err := range search.Find.CallEach(ctx, node, query) {
//		if err == nil {
//			all = append(all, found...)
//		}
//	}
//
// The options are for each of the calls, [WithTimeout] above all: without it and without a deadline on ctx the slowest node is waited for.
// [Quorum] ends it after so many good answers, and [EachVersion] calls each version in place of each node. Nodes
// that come meanwhile are not called. Where no node offers the action, it yields one error, as a call would end with.
func (c *Contract[In, Out]) CallEach(ctx context.Context, from Caller, in In, options ...CallOption) iter.Seq2[Out, error] {
	return func(yield func(Out, error) bool) {
		each := func(out any, err error) bool { return yield(*out.(*Out), err) }
		c.untyped().callEach(ctx, from, &in, func() any { return new(Out) }, options, each)
	}
}

// callEach makes the calls, each with an output of its own from newOutput, and yields them as they come.
func (c *contract) callEach(ctx context.Context, from Caller, in any, newOutput func() any, options []CallOption, yield func(out any, err error) bool) {
	n, err := c.caller(from)
	var each *gathering
	if err == nil {
		each, err = n.each(c.name, gather(options))
	}
	if err != nil {
		yield(newOutput(), err)
		return
	}
	type answer struct {
		out any
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer, len(each.targets)) // with space for all, so that nobody waits for a loop that was left
	for _, target := range each.targets {
		one := &contract{name: target.action}
		o := gather(append(slices.Clip(options), target.only))
		go func() {
			out := newOutput()
			call := func(ctx context.Context) error { return one.callAny(ctx, n, in, out, o) }
			isolateGoroutine(c.name, ctx, call, func(err error) { answers <- answer{out, logEnded(from, err)} })
		}()
	}
	for range each.targets {
		a := <-answers
		yields, over := each.take(&a.err)
		if yields && !yield(a.out, a.err) || over {
			return
		}
	}
}

// CallMerged calls the action as [Contract.CallEach] does and makes one answer of all, by merge, which gets what it returned before and the next
// answer, in the order in which they come:
//
//	sum := func(a, b Count) Count { return Count{a.Items + b.Items} }
//	total, err := stock.Count.CallMerged(ctx, node, In{}, sum, sabir.WithTimeout(time.Second))
//
// The first error ends it, and is its error. With [Quorum] single calls may fail.
func (c *Contract[In, Out]) CallMerged(ctx context.Context, from Caller, in In, merge func(Out, Out) Out, options ...CallOption) (merged Out, err error) {
	first := true
	for out, err := range c.CallEach(ctx, from, in, options...) {
		switch {
		case err != nil:
			var none Out
			return none, err
		case first:
			merged, first = out, false
		default:
			merged = merge(merged, out)
		}
	}
	return merged, nil
}

// Quorum is for [Contract.CallEach] and [Contract.CallMerged]: after n good answers they end, and so do the calls that are still under way.
// 0 stands for more than half of those that are called. Errors of single calls are not yielded; where n good answers cannot be had any more, an
// [ErrNoQuorum], which wraps them, is, and it is the last.
func Quorum(n int) CallOption {
	return func(o *callOptions) {
		o.once("Quorum", o.quorum != 0)
		o.forEach, o.quorum = true, int32(n)
		if n <= 0 {
			o.quorum = majority
		}
	}
}

// EachVersion has [Contract.CallEach] and [Contract.CallMerged] call each version of the service that offers the action, on one node each, in place of each node.
func EachVersion() CallOption {
	return func(o *callOptions) { o.forEach, o.eachVersion = true, true }
}

const majority = -1

// gathering holds the calls of one CallEach and counts what has come of them.
type gathering struct {
	action  string
	targets []eachTarget
	quorum  int // good answers; 0 for all answers
	good    int
	failed  []error
}

// eachTarget says what one of the calls goes to.
type eachTarget struct {
	action string
	only   CallOption
}

// take counts an answer, and says whether the caller of CallEach gets it and whether it was the last. Where no quorum can be had any more,
// that becomes the error.
func (g *gathering) take(err *error) (yields, over bool) {
	switch {
	case g.quorum == 0:
		return true, false
	case *err == nil:
		g.good++
		return true, g.good == g.quorum
	}
	g.failed = append(g.failed, *err)
	if len(g.targets)-len(g.failed) >= g.quorum {
		return false, false
	}
	*err = g.noQuorum()
	return true, true
}

func (g *gathering) noQuorum() *Error {
	e := &Error{Code: CodeUnavailable, Name: nameNoQuorum,
		Message: itoa(g.quorum) + " good answers of " + g.action + " were wanted of " + itoa(len(g.targets)) + " called, and " + itoa(len(g.failed)) + " failed"}
	if len(g.failed) > 0 {
		e.cause = errors.Join(g.failed...)
		e.Message += ": " + g.failed[0].Error()
	}
	return e
}

// each finds what CallEach calls.
func (n *Node) each(name string, o callOptions) (*gathering, error) {
	g := &gathering{action: name, quorum: int(o.quorum)}
	t := n.table.Load()
	e := t.find(name)
	switch {
	case o.mistake != "":
		return nil, o.errMistake(name)
	case e == nil:
		_, err := n.remoteByName(name, &callOptions{}) // which says why there is none
		if err == nil {
			err = n.unavailable(name)
		}
		return nil, err
	case o.eachVersion:
		for _, version := range t.versionsOf(e.info()) {
			g.targets = append(g.targets, eachTarget{version, func(o *callOptions) { o.forEach = false }})
		}
	default:
		for _, node := range n.offering(t, e.info().Name) {
			g.targets = append(g.targets, eachTarget{name, func(o *callOptions) {
				o.forEach = false
				ToNode(node)(o)
			}})
		}
	}
	if g.quorum == majority {
		g.quorum = len(g.targets)/2 + 1
	}
	if g.quorum > len(g.targets) {
		return nil, g.noQuorum()
	}
	return g, nil
}

// offering lists the nodes that offer the action of that full name.
func (n *Node) offering(t *routingTable, full string) (list []string) {
	if t.localActions[full] != nil {
		list = append(list, n.id)
	}
	if t.view != nil {
		others := n.otherNodes()
		for _, offer := range t.view.Action(full) {
			if _, there := others[offer.Node]; there && offer.Node != n.id {
				list = append(list, offer.Node)
			}
		}
	}
	return list
}

// versionsOf lists the full names of the action in all versions of its service.
func (t *routingTable) versionsOf(a *Action) (list []string) {
	for name, e := range t.all {
		if other := e.info(); other.Name == name && other.unversioned() == a.unversioned() {
			list = append(list, name)
		}
	}
	return list
}

// unversioned is the action's full name without the version of its service.
func (a *Action) unversioned() string {
	if a.Version == 0 {
		return a.Name
	}
	return strings.TrimPrefix(a.Name, fullServiceName("", a.Version))
}
