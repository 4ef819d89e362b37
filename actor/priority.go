package actor

// Priority is the lane of a mailbox that a message lies in. A process handles all that lies in a lower lane before
// anything in a higher one; within a lane messages keep their order. So the order between two processes is kept for
// messages of one priority.
type Priority uint8

// The priorities. Exits and the word of ended processes come as PrioritySystem.
const (
	PriorityUrgent Priority = iota
	PrioritySystem
	PriorityNormal
	PriorityLog
)

// String is the priority in lower case.
func (p Priority) String() string {
	if p > PriorityLog {
		return "unknown"
	}
	return [...]string{"urgent", "system", "normal", "log"}[p]
}

// Overflow is what happens to a message that comes to a full mailbox.
type Overflow uint8

const (
	// Reject refuses the message: its sender gets ErrMailboxFull where it can be told. See Send for when that is.
	Reject Overflow = iota
	// DropNewest loses the message; its sender is told nothing.
	DropNewest
	// DropOldest loses the message that has waited longest in the same lane.
	DropOldest
	// Wait makes the sender wait for room, at most for SendTimeout. A process that sends to itself, and a sender on another
	// node, does not wait: for them it is Reject.
	Wait
)

// String is the rule in words.
func (o Overflow) String() string {
	if o > Wait {
		return "unknown"
	}
	return [...]string{"reject", "drop newest", "drop oldest", "wait"}[o]
}
