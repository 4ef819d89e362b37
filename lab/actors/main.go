// Command actors is Go's actor libraries as the lab measures them: messages between processes of one node and of two, calls,
// what many processes take, and a publication to all of them. Each process of the operating system is one node of one library, and
// every message, reply and publication is checked.
package main

import (
	"fmt"
	"runtime"

	"github.com/sabir-go/sabir/lab/child"
)

func main() { child.Main(start) }

// The works, by the names that an order has. Order.Size is the messages of each pair, or the processes.
const (
	local11       = "local-1-1"
	localNN       = "local-n-n"
	remote11      = "remote-1-1"
	remoteNN      = "remote-n-n"
	localCall     = "local-call"
	remoteCall    = "remote-call"
	skynet        = "skynet"
	memory        = "memory"
	publish       = "publish"
	remotePublish = "remote-publish"
)

// The roles of two nodes; a node on its own has none of them. The server is there first: it has the processes that are sent to or
// called, or the event.
const server = "server"

// start starts a node, and what it has before anything is measured.
func start(o child.Order) (child.Job, error) {
	c, err := contenderOf(o.Row)
	if err != nil {
		return child.Job{}, err
	}
	found := new(problems)
	n, err := c.start(setup{Address: o.Address, Peer: o.Peer, Work: o.Work, Fail: found.add})
	if err != nil {
		return child.Job{}, fmt.Errorf("start the node: %w", err)
	}
	job, err := jobOf(n, o, found)
	if err != nil {
		n.stop()
		return child.Job{}, err
	}
	job.Stop = n.stop
	return job, nil
}

func jobOf(n node, o child.Order, found *problems) (child.Job, error) {
	if job, there := shapeHere(n, o, found); there {
		return job, nil
	}
	switch o.Work {
	case local11, localNN:
		return pingHere(n, o, found), nil
	case remote11, remoteNN:
		if o.Role == server {
			return receivingSide(n, o, found)
		}
		return sendingSide(n, o, found)
	case localCall:
		return callsTo(n, place{"", answerName}, o.Callers, localStride), n.answer(answerName)
	case remoteCall:
		if o.Role == server {
			return child.Job{}, n.answer(answerName)
		}
		return callsTo(n, place{o.Peer, answerName}, o.Callers, 1), nil
	case skynet:
		return skynetHere(n, o, found), nil
	case memory:
		return startMany(n, o.Size), nil
	case publish:
		return publishHere(n, o.Size, found), nil
	case remotePublish:
		if o.Role == server {
			return publishingSide(n, found)
		}
		return subscribedSide(n, o, found)
	}
	return child.Job{}, fmt.Errorf("no work is called %q", o.Work)
}

// pairsOf returns the number of pairs of processes in a ping.
func pairsOf(o child.Order) int {
	if o.Work == localNN || o.Work == remoteNN {
		return runtime.NumCPU()
	}
	return 1
}
