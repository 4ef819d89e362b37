package actor

// Priority selects the queue of a mailbox. A process handles everything of a lower priority value before anything of a higher
// one; within a priority messages keep their order. So the order between two processes is kept for messages of one priority.
type Priority uint8

// The priorities. Exit and Down come as PrioritySystem.
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

// Overflow is a rule for messages that come to a full mailbox.
type Overflow uint8

const (
	// Reject refuses the message: its sender gets ErrMailboxFull where it can be reported. See Send for when that is.
	Reject Overflow = iota
	// DropNewest loses the message without an error, except for calls and SendConfirmed, which get ErrMailboxFull.
	DropNewest
	// DropOldest loses the message that has waited longest in the same queue, also one that SendConfirmed has confirmed.
	DropOldest
	// Wait makes the sender wait for space, at most for 5 s. A process that sends to itself, and a sender on another
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
