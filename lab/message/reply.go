package message

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"
)

// What the server changes.
const (
	replyField1 = "OK"
	replyField2 = 100
)

// Answer turns the request into the reply: what every server does.
func (m *Message) Answer() { m.Field1, m.Field2 = replyField1, replyField2 }

// Answer turns the request into the reply: what every server does.
func (m *Proto) Answer() { m.Field1, m.Field2 = replyField1, replyField2 }

// marks is the number of marks: as many as keep the message's size as it is.
const marks = 1_000_000

// mark is a number that takes as many bytes in protobuf as Number does.
func mark(n int) int32 { return Number + int32(n%marks) }

// sentences are as many sentences of 66 bytes as Sentence has characters, each turned by one more.
var sentences = func() []string {
	characters := []rune(Sentence)
	all := make([]string, len(characters))
	for i := range all {
		all[i] = string(characters[i:]) + string(characters[:i])
	}
	return all
}()

func sentence(n int) string { return sentences[n%len(sentences)] }

// Mark makes the request one that no other caller sends and that this caller sends once in a million, so that a reply
// that belongs to another call, or whose strings lie in a buffer that another call uses, is noticed. The size stays
// what it is.
func (m *Message) Mark(caller, sequence int) {
	m.Field3, m.Field131 = mark(caller), mark(sequence)
	m.Field4, m.Field129 = sentence(caller+sequence), sentence(sequence)
}

// Mark is Message.Mark.
func (m *Proto) Mark(caller, sequence int) {
	m.Field3, m.Field131 = mark(caller), mark(sequence)
	m.Field4, m.Field129 = sentence(caller+sequence), sentence(sequence)
}

// CheckReply says what is wrong with a reply to the request m: that it is of another call or was not answered at all, or,
// where full is set, that any other field has changed.
func (m *Message) CheckReply(reply *Message, full bool) error {
	if reply == nil {
		return fmt.Errorf("no reply")
	}
	if reply.Field1 != replyField1 || reply.Field2 != replyField2 {
		return fmt.Errorf("reply has field1 %q and field2 %d, want %q and %d", reply.Field1, reply.Field2, replyField1, replyField2)
	}
	if reply.Field3 != m.Field3 || reply.Field131 != m.Field131 || reply.Field4 != m.Field4 || reply.Field129 != m.Field129 {
		return fmt.Errorf("reply of another call: marks %d, %d, %s, %s; want %d, %d, %s, %s", reply.Field3, reply.Field131, reply.Field4,
			reply.Field129, m.Field3, m.Field131, m.Field4, m.Field129)
	}
	if !full {
		return nil
	}
	want, got := *m, *reply
	want.Answer()
	if len(want.Field5) == 0 && len(got.Field5) == 0 {
		want.Field5, got.Field5 = nil, nil // not every codec tells nil from empty
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("reply differs from the request in more than field1 and field2")
	}
	return nil
}

// CheckReply is Message.CheckReply.
func (m *Proto) CheckReply(reply *Proto, full bool) error {
	if reply == nil {
		return fmt.Errorf("no reply")
	}
	if reply.Field1 != replyField1 || reply.Field2 != replyField2 {
		return fmt.Errorf("reply has field1 %q and field2 %d, want %q and %d", reply.Field1, reply.Field2, replyField1, replyField2)
	}
	if reply.Field3 != m.Field3 || reply.Field131 != m.Field131 || reply.Field4 != m.Field4 || reply.Field129 != m.Field129 {
		return fmt.Errorf("reply of another call: marks %d, %d, %s, %s; want %d, %d, %s, %s", reply.Field3, reply.Field131, reply.Field4,
			reply.Field129, m.Field3, m.Field131, m.Field4, m.Field129)
	}
	if !full {
		return nil
	}
	want := proto.CloneOf(m)
	want.Answer()
	if !proto.Equal(want, reply) {
		return fmt.Errorf("reply differs from the request in more than field1 and field2")
	}
	return nil
}
