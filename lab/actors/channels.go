package main

import "errors"

// channelSize is the capacity of each process's channel.
const channelSize = 128

// channels are plain Go: what a process costs at least where it is a goroutine with a channel. They are no actors: nothing has an
// address, is supervised or can be stopped from outside.
type channels struct {
	inboxes  map[string]chan Message
	requests map[string]chan channelRequest
	all      []chan Message
	end      chan struct{}
	size     int // of the channels of a shape
}

type channelRequest struct {
	message Message
	reply   chan Message
}

func startChannels(s setup) *channels {
	n := &channels{inboxes: map[string]chan Message{}, requests: map[string]chan channelRequest{}, end: make(chan struct{}), size: passSize}
	if s.Work == backlogWork {
		n.size = 2 * backlogged
	}
	return n
}

var errNoProcess = errors.New("no process has that name on this node")

func (n *channels) stop() { close(n.end) }

// receive does without a select: only what ends by itself is measured here, and stop has nothing to wait for.
func (n *channels) receive(name string, to *counter) error {
	inbox := make(chan Message, channelSize)
	n.inboxes[name] = inbox
	go func() {
		for m := range inbox {
			to.add(m)
		}
	}()
	return nil
}

func (n *channels) send(to place, count uint64) (func() error, error) {
	inbox, ok := n.inboxes[to.Name]
	if !ok {
		return nil, errNoProcess
	}
	begin := make(chan struct{})
	go func() {
		<-begin
		for i := range count {
			inbox <- messageAt(i)
		}
		close(inbox)
	}()
	return func() error { close(begin); return nil }, nil
}

func (n *channels) answer(name string) error {
	requests := make(chan channelRequest, channelSize)
	n.requests[name] = requests
	go func() {
		for {
			select {
			case r := <-requests:
				r.reply <- r.message.answer()
			case <-n.end:
				return
			}
		}
	}()
	return nil
}

func (n *channels) calling(to place, body func(func(Message) (Message, error)) error) error {
	requests, ok := n.requests[to.Name]
	if !ok {
		return errNoProcess
	}
	reply := make(chan Message, 1)
	return body(func(m Message) (Message, error) {
		requests <- channelRequest{m, reply}
		return <-reply, nil
	})
}

// start starts processes which have a channel each.
func (n *channels) start(count int, started *tally, take func() func(Message)) {
	n.all = make([]chan Message, count)
	for i := range n.all {
		inbox := make(chan Message, channelSize)
		n.all[i] = inbox
		go func() {
			handle := take()
			started.add()
			for {
				select {
				case m := <-inbox:
					handle(m)
				case <-n.end:
					return
				}
			}
		}()
	}
}

func (n *channels) idle(count int, started *tally) error {
	n.start(count, started, func() func(Message) {
		var got int
		return func(Message) { got++ }
	})
	return nil
}

// publisher is a loop over the channels.
func (n *channels) publisher() (func(Message) error, error) {
	return func(m Message) error {
		for _, inbox := range n.all {
			inbox <- m
		}
		return nil
	}, nil
}

func (n *channels) subscribe(node string, count int, to *tally) error {
	if node != "" {
		return errOneNode
	}
	ready := newTally(count)
	n.start(count, ready, func() func(Message) { return (&subscriber{deliveries: to}).take })
	return ready.wait("subscribed")
}

// outbox of the channels, which any goroutine may send to.
type channelOutbox []chan Message

func (all channelOutbox) send(to int, m Message) { all[to] <- m }

// passSize is the capacity of the channels of a shape: no fewer than tokens are under way, so that none waits for itself in a circle.
const passSize = 1024

func (n *channels) pass(count int, handle handler) (func(int, Message) error, error) {
	all := make(channelOutbox, count)
	for i := range all {
		all[i] = make(chan Message, n.size)
	}
	for i, inbox := range all {
		go func() {
			for {
				select {
				case m := <-inbox:
					handle(i, m, all)
				case <-n.end:
					return
				}
			}
		}()
	}
	return func(to int, m Message) error { all[to] <- m; return nil }, nil
}

// tree is a goroutine of a tree. Each that is no leaf makes the channel that those below tell it by.
func tree(g gathering, above chan<- Message) {
	if !g.leaf() {
		told := make(chan Message, branching)
		for i := range branching {
			go tree(g.below(i), told)
		}
		for !g.take(<-told) {
		}
	}
	if g.done != nil {
		g.done(g.total().Sequence)
		return
	}
	above <- g.total()
}

func (n *channels) skynet(first gathering) error {
	go tree(first, nil)
	return nil
}
