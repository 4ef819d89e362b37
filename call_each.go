package sabir

import (
	"context"
	"iter"
	"slices"
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
// The options are for each of the calls, [WithTimeout] above all: without it and without a deadline on ctx the slowest node is waited for. Nodes
// that come meanwhile are not called. Where no node offers the action, it yields one error, as a call would end with.
func (c *Contract[In, Out]) CallEach(ctx context.Context, from Caller, in In, options ...CallOption) iter.Seq2[Out, error] {
	return func(yield func(Out, error) bool) {
		nodes, err := c.nodes(from)
		if err != nil {
			var none Out
			yield(none, err)
			return
		}
		type answer struct {
			out Out
			err error
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		answers := make(chan answer, len(nodes)) // with space for all, so that nobody waits for a loop that was left
		for _, node := range nodes {
			to := append(slices.Clip(options), ToNode(node))
			go func() {
				var a answer
				call := func(ctx context.Context) (err error) {
					a.out, err = Call[Out](ctx, from, c.name, in, to...)
					return err
				}
				isolateGoroutine(c.name, ctx, call, func(err error) {
					a.err = logEnded(from, err)
					answers <- a
				})
			}()
		}
		for range nodes {
			if a := <-answers; !yield(a.out, a.err) {
				return
			}
		}
	}
}

// nodes lists those that offer the contract's action now.
func (c *Contract[In, Out]) nodes(from Caller) (list []string, err error) {
	if c == nil || c.name == "" {
		return nil, errNotAContract("NewAction")
	}
	n := from.callingNode()
	if n == nil {
		return nil, errNoNode(from, c.name)
	}
	t := n.table.Load()
	e := t.actions[c.name]
	if e == nil {
		_, err := n.remoteByName(c.name, &callOptions{}) // which says why there is none
		if err == nil {
			err = n.unavailable(c.name)
		}
		return nil, err
	}
	full := e.info().Name // of the version that the name stands for
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
	return list, nil
}
