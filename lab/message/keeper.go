package message

import (
	"fmt"

	"google.golang.org/protobuf/proto"
)

// Keeper holds on to a reply and checks it again when the next one has come: a library that gives out memory which it uses
// again is found. One goroutine uses it.
type Keeper struct {
	again func() error
}

// Message checks the reply that was kept, and keeps this one. It copies the structs, not what they point to.
func (k *Keeper) Message(request, reply *Message) error {
	err := k.check()
	sent, got := *request, *reply
	k.again = func() error { return sent.CheckReply(&got, true) }
	return err
}

// Proto checks the reply that was kept, and keeps this one.
func (k *Keeper) Proto(request, reply *Proto) error {
	err := k.check()
	sent := proto.CloneOf(request)
	k.again = func() error { return sent.CheckReply(reply, true) }
	return err
}

func (k *Keeper) check() error {
	if k.again == nil {
		return nil
	}
	if err := k.again(); err != nil {
		return fmt.Errorf("an earlier reply has changed: %w", err)
	}
	return nil
}
