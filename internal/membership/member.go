package membership

import (
	"context"
	"errors"
	"fmt"
)

// Member is a node as membership knows it.
type Member struct {
	ID         string // the node's id, unique in the cluster: 1 to 200 bytes; "" while only the address is known, see Static
	Addr       string // where links dial: a URL such as "tcp://10.0.0.1:7700", "unix:///run/a.sock" or "mem://a"; "" for one that cannot be dialled
	ClientOnly bool   // a command line or a client: it offers nothing and is not dialled

	// Instance is different for each run of a node under the same id. A membership picks it where it is zero.
	Instance uint64
}

// String is the id, or the address where there is no id.
func (m Member) String() string {
	if m.ID == "" {
		return m.Addr
	}
	return m.ID
}

// A ChangeKind says whether a member joined, left, failed or changed.
type ChangeKind uint8

// The kinds of changes. Left is a node that sent a goodbye, Failed one that went silent or whose links failed. For one node they
// alternate: Joined, any number of Updated, then Left or Failed, and Joined again if it comes back.
const (
	Joined ChangeKind = iota
	Updated
	Left
	Failed
)

// String is the kind in lower case.
func (k ChangeKind) String() string {
	if int(k) >= len(kinds) {
		return fmt.Sprintf("change %d", uint8(k))
	}
	return kinds[k]
}

var kinds = [...]string{"joined", "updated", "left", "failed"}

// Change is news of a member.
type Change struct {
	Kind   ChangeKind
	Member Member // as it is now, or for Left and Failed as it last was
}

// Membership finds the other nodes of a cluster. It is started once and stopped once; the other methods may be called by
// many goroutines at any time, and do nothing before Start and after Stop.
type Membership interface {
	// Start joins as self and calls watch for each change, one at a time, until Stop. It returns as soon as this node is
	// known to itself; others come through watch. Addresses that cannot be reached are tried again for ever. The context
	// bounds Start itself, not what it starts.
	//
	// watch must not call Stop, and should return soon: while it runs, further changes wait, and those that cancel each
	// other out are left out.
	Start(ctx context.Context, self Member, watch func(Change)) error

	// Members lists the other nodes, by id. It may be ahead of the calls of watch.
	Members() []Member

	// Failed is a hint: the link to a node was lost and dialling it again is refused, so it is most likely gone. The member
	// is dropped, and Failed for watch, until it answers again.
	Failed(id string)

	// Stop leaves, so that the others see Left and not Failed, and ends everything Start began. watch is not called after
	// it returned. It returns the context's error when that ended before the others could be informed.
	Stop(ctx context.Context) error
}

// ErrSelf is wrapped by the error of a [Carrier] whose Dial led back to this node. What stands at a seed may be a load balancer,
// which leads to another node the next time.
var ErrSelf = errors.New("the address is this node's own")

// ErrLeaving is returned by Carrier.Dial of a node that leaves and makes no connections any more. It says nothing of the node that was dialled.
var ErrLeaving = errors.New("this node is leaving")

var (
	errStarted = errors.New("this membership was started before; make a new one")
	errNoWatch = errors.New("Start was given no watch function")
)
