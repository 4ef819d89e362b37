package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/secret"
)

// Engine knows one kind of broker.
type Engine interface {
	// Open connects to the broker at the address, within ctx. Where nothing answers the error is [ErrUnreachable]. Errors name the
	// address without its password. Unknown parts of the address are refused.
	Open(ctx context.Context, at *url.URL, config Config) (Store, error)
}

// Config holds an engine's settings besides the address.
type Config struct {
	// Name is the node's, for the broker's listings.
	Name string
	// TLS is for addresses of brokers that encrypt; nil trusts the authorities of the system.
	TLS *tls.Config
	// Secret has the meaning of transport.Config.Secret, for a broker inside the process that links use too.
	Secret secret.Secret
	// Log receives the engine's lines about lost and restored connections; nil is slog.Default.
	Log *slog.Logger
}

// What a [Store] answers, for errors.Is.
var (
	// ErrUnreachable means that the broker cannot be reached now, or did not answer in time. What was asked may have been done.
	ErrUnreachable = errors.New("the broker cannot be reached")
	// ErrNotReady is an ErrUnreachable too: the broker answers that it does nothing now, as a replica does that is not yet the
	// primary. What was asked was not done.
	ErrNotReady = fmt.Errorf("%w: it answers, and takes nothing now", ErrUnreachable)
	// ErrNotOffered means that this kind of broker cannot do what was asked.
	ErrNotOffered = errors.New("not offered by this broker")
	// ErrTooLarge means that a message is larger than the channel or the broker takes.
	ErrTooLarge = errors.New("the message is too large")
	// ErrFull means that the broker has no space for more. What was asked was not done, unless it was on its way when the broker
	// became full: then it may have been. An engine answers it at once, and does not wait for space.
	ErrFull = errors.New("the broker has no space")
	// ErrClosed means that the store or the group was closed.
	ErrClosed = errors.New("closed")
)

// Store is a connection to a broker that keeps channels. It connects again by itself for as long as it is not closed;
// until then calls end in [ErrUnreachable].
//
// Names of channels and groups are made of words of letters, digits, '_' and '-', joined by dots, up to 200 bytes.
// All methods may be called from any number of goroutines at once.
type Store interface {
	// Features returns what the engine can do.
	Features() Features

	// Declare makes the channel, or changes the limits of one that is there. It must be called before the others.
	Declare(ctx context.Context, spec Spec) error

	// Publish gives messages to the broker, in their order, and returns when each is kept or has an error: that is where a
	// broker configured to survive a crash has it on its disk. It fills in each one's Sequence, Duplicate
	// and Err. It waits while the engine's own bounded buffer is full.
	Publish(ctx context.Context, channel string, batch []*Outgoing)

	// Join makes the node a consumer of the group. A group that is new starts at spec.From; an old one goes on where it was.
	Join(ctx context.Context, spec GroupSpec) (Group, error)

	// Stats counts the channel's messages.
	Stats(ctx context.Context, channel string) (Stats, error)

	// DeadLetters lists up to limit messages of a channel declared with Spec.DeadLetters, the oldest first, without taking them.
	DeadLetters(ctx context.Context, channel string, limit int) ([]DeadLetter, error)

	// Remove takes those messages out of a channel declared with Spec.DeadLetters, and returns how many were there.
	Remove(ctx context.Context, channel string, keys ...string) (int, error)

	// Check returns nil if the broker takes messages now, else the error that Publish would have. It asks the broker, within ctx.
	Check(ctx context.Context) error

	// Close ends the connection. What was published before has its answer.
	Close() error
}

// Features are the abilities in which engines differ.
type Features struct {
	Durable                          bool // messages survive the process that holds them
	Dedup                            bool // a message published twice with one ID within two minutes is kept once
	Sequences                        bool // messages have places that grow with the order of publishing
	Lease                            bool // a consumer that is silent for AckWait loses its messages; else when its connection breaks
	KeepAge, KeepBytes, KeepMessages bool
}

// Spec describes a channel.
type Spec struct {
	Name        string
	MaxAge      time.Duration // older messages are dropped, handled or not; 0 for none
	MaxBytes    int64         // the oldest are dropped above it; 0 for none
	MaxCount    int64         // the same for their number
	MaxMessage  int           // bytes of data in one message
	DeadLetters bool          // messages are looked at and taken out one by one, as well as by groups
}

// Outgoing is a message to publish, and what became of it.
type Outgoing struct {
	Message
	Dedup     bool   // the publisher chose the ID: see Features.Dedup. Without it engines may spare themselves the work
	Sequence  uint64 // its place in the channel; 0 where the engine has none
	Duplicate bool   // a message of that ID was there already
	Err       error  // nil when the broker keeps it
}

// GroupSpec describes a group of consumers of one channel.
type GroupSpec struct {
	Channel  string
	Name     string
	From     Position
	AckWait  time.Duration // a message that was handed out and not acknowledged for so long goes to another consumer
	InFlight int           // the most that this consumer will hold
}

// Position is the place at which a new group starts. The zero Position is the oldest message that is kept.
type Position struct {
	New      bool      // with what is published after the group was made
	Sequence uint64    // with the message of that place; 0 for none
	Time     time.Time // with the first message kept since; zero for none
}

// Group is one consumer of a group.
//
// All methods may be called from any number of goroutines at once, but one at a time calls Receive.
type Group interface {
	// Receive waits for messages and returns up to limit, at least one unless there is an error. It never hands out more
	// than the node asked for: limit counts down with each delivery until that is Done, Retried or Released.
	//
	// A message that is handed out again after Retry has the next Attempt. One that comes again without it, since its
	// consumer ended or was lost or gave it back, has the same Attempt and may have a larger Lost: the engine cannot know
	// whether its handler had begun.
	Receive(ctx context.Context, limit int) ([]*Delivery, error)
	// Done reports that the messages were handled. When it returns nil, the broker will not hand them out again, or, where
	// noted by the engine, only if the broker itself fails before it has written that down.
	Done(ctx context.Context, d ...*Delivery) error
	// Retry reports that the attempt failed, which counts it, and hands the message out again, to any consumer of the group,
	// after the time. Attempt of what is then handed out is one more than that of d, which the caller may have raised.
	Retry(ctx context.Context, d *Delivery, after time.Duration) error
	// Release gives a message back whose attempt does not count, to be handed out again at once, to any consumer of the group.
	Release(ctx context.Context, d *Delivery) error
	// Extend reports that the messages are still being handled: it must be called within AckWait.
	Extend(ctx context.Context, d ...*Delivery) error
	// Close gives back what was received by the engine and not by the caller. Deliveries can be Done until the store closes,
	// unless they go elsewhere first.
	Close() error
}

// Delivery is a message that was handed to a consumer.
type Delivery struct {
	Message
	Sequence uint64 // its place in the channel; 0 where the engine has none
	Attempt  int    // 1 more than the number of attempts that were counted: see Group.Retry
	Lost     int    // how often it was handed out besides those, without a result
	Handle   any    // the engine's own
	Broken   error  // the message is there and its head cannot be read
}

// DeadLetter is a dead-lettered message.
type DeadLetter struct {
	Key string // for Remove
	Message
}

// Stats counts a channel's messages.
type Stats struct {
	Messages uint64       // kept now, handled or not
	Bytes    uint64       // 0 where the engine does not know
	Last     uint64       // the place of the newest; 0 where the engine has none
	Groups   []GroupStats // by name
}

// GroupStats counts what a group has before it.
type GroupStats struct {
	Name     string
	Waiting  uint64 // not handed out yet
	InFlight uint64 // handed out and neither handled nor back
	Delayed  uint64 // waiting to be tried again; part of InFlight where not known
	Retried  uint64 // of those in flight and delayed, how many were handed out before; 0 where unknown
}
