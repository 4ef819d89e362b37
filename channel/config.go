package channel

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/engine"
)

// Config holds the settings of a channel. All programs that use the channel should give it the same.
type Config struct {
	// KeepFor is the time for which messages are kept, handled or not. Default: 7 days; negative: as long as the other limits allow.
	// RabbitMQ applies it to what new groups can start from; what a group has before it is kept until it is handled.
	KeepFor time.Duration
	// KeepBytes drops the oldest messages, handled or not, when all together are larger. Default: no bound. Redis does not offer it.
	KeepBytes int64
	// KeepMessages drops the oldest messages, handled or not, when there are more. Default: no bound. RabbitMQ does not offer it.
	KeepMessages int64
	// MaxMessage is the most bytes that a message may have when encoded. Default: 983,040, which fits the brokers' usual limit
	// of a megabyte.
	MaxMessage int
	// Codec names the codec that messages are written with. Default: "json", or the one that claims the type, such as
	// "protobuf" for generated messages. Each message names its codec, so consumers read old messages after a change; the
	// program must link the codec's package. "native" is refused: its bytes cannot be read without a schema.
	//
	// On a channel of webhook.Event "json" is the structured mode of CloudEvents, and "binary" the binary mode, with the event's attributes as headers of the
	// broker. Consumers read both.
	Codec string
	// PublishedBy names the nodes that may publish to the channel, by patterns of their proven names, as sabir.Allow does: names in the
	// certificate of cluster.Config.TLS, or without one the id with cluster.Config.NodeKey. Default: whoever may write to the channel at the broker may.
	//
	// Each message then has a signature of the node that published it, over the channel's name, the message's ID and its data. Consumers
	// check it: a message without a good one, or of another node, does not reach the handler and becomes a dead letter, also after a
	// replay. Publish fails with sabir.ErrCallerRefused on a node that is not named, and a consumer does not start where nothing proves
	// names. Somebody with rights at the broker can still take messages out, and put in again, under another ID too, what was published before.
	// A list that is not nil and has no names is an error.
	//
	// Each message takes a signature (Ed25519, with node keys) and its check, and is some 260 bytes longer, with certificates by these.
	PublishedBy []string
}

// defaultKeep is the time that channels keep messages without KeepFor: 7 days.
const defaultKeep = 7 * 24 * time.Hour

// defaultMessage and a head together fit the megabyte that brokers take.
const defaultMessage = 1<<20 - engine.MaxHead

// withDefaults fills in what was left out. claimed is the codec that claims the type of the messages; "" for none.
func (c Config) withDefaults(claimed string) Config {
	c.KeepFor = max(0, cmp.Or(c.KeepFor, defaultKeep))
	c.MaxMessage = cmp.Or(c.MaxMessage, defaultMessage)
	c.Codec = cmp.Or(c.Codec, claimed, json.Name)
	return c
}

// check returns what is wrong with the settings; nil for nothing.
func (c Config) check() error {
	if c.KeepBytes < 0 || c.KeepMessages < 0 || c.MaxMessage < 0 {
		return fmt.Errorf("KeepBytes is %d, KeepMessages is %d and MaxMessage is %d: none may be negative; 0 is the default", c.KeepBytes, c.KeepMessages, c.MaxMessage)
	}
	if c.PublishedBy != nil && len(c.PublishedBy) == 0 {
		return errors.New("PublishedBy needs names")
	}
	for _, p := range c.PublishedBy {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return fmt.Errorf("PublishedBy has the pattern %q, which takes no name", p)
		}
	}
	return nil
}
