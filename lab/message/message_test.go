package message

import (
	"reflect"
	"testing"
	"unsafe"

	"google.golang.org/protobuf/proto"
)

func TestSizesAsProtobuf(t *testing.T) {
	request := NewProto()
	for name, n := range map[string]int{"first": 0, "last": marks - 1} {
		request.Mark(n, n)
		if size := proto.Size(request); size != RequestBytes {
			t.Errorf("%s request has %d bytes, want %d", name, size, RequestBytes)
		}
	}
	request.Answer()
	if size := proto.Size(request); size != ReplyBytes {
		t.Errorf("reply has %d bytes, want %d", size, ReplyBytes)
	}
	if len(Sentence) != 66 {
		t.Errorf("the sentence has %d bytes, want 66", len(Sentence))
	}
}

func TestBothFormsHoldTheSame(t *testing.T) {
	plain, asProto := reflect.ValueOf(*New()), reflect.ValueOf(NewProto()).Elem()
	fields := 0
	for i := range asProto.NumField() {
		field := asProto.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		fields++
		other := plain.FieldByName(field.Name)
		if !other.IsValid() || !reflect.DeepEqual(other.Interface(), asProto.Field(i).Interface()) {
			t.Errorf("%s: plain %v, protobuf %v", field.Name, other, asProto.Field(i))
		}
	}
	if fields != plain.NumField() || fields != 40 {
		t.Errorf("protobuf has %d fields and the plain struct %d, want 40", fields, plain.NumField())
	}
}

func TestARightReplyPasses(t *testing.T) {
	plain := New()
	plain.Mark(3, 4)
	reply := *plain
	reply.Answer()
	if err := plain.CheckReply(&reply, true); err != nil {
		t.Error(err)
	}
	request := NewProto()
	request.Mark(3, 4)
	asProto := proto.CloneOf(request)
	asProto.Answer()
	if err := request.CheckReply(asProto, true); err != nil {
		t.Error(err)
	}
}

func TestAReplyWithAnyFieldChangedIsFound(t *testing.T) {
	request, protoRequest := New(), NewProto()
	for i := range reflect.TypeFor[Message]().NumField() {
		name := reflect.TypeFor[Message]().Field(i).Name
		reply := *request
		reply.Answer()
		change(reflect.ValueOf(&reply).Elem().FieldByName(name))
		if request.CheckReply(&reply, true) == nil {
			t.Errorf("plain: %s changed, not found", name)
		}
		asProto := proto.CloneOf(protoRequest)
		asProto.Answer()
		change(reflect.ValueOf(asProto).Elem().FieldByName(name))
		if protoRequest.CheckReply(asProto, true) == nil {
			t.Errorf("protobuf: %s changed, not found", name)
		}
	}
}

func TestCopyTakesEveryField(t *testing.T) {
	request, to := NewProto(), new(Proto)
	request.Field5 = []uint64{1}
	to.CopyFrom(request)
	if !proto.Equal(request, to) {
		t.Errorf("copied %v, want %v", to, request)
	}
}

func change(field reflect.Value) {
	switch field.Kind() {
	case reflect.String:
		field.SetString(field.String() + "x")
	case reflect.Bool:
		field.SetBool(!field.Bool())
	case reflect.Slice:
		field.Set(reflect.ValueOf([]uint64{1}))
	default:
		field.SetInt(field.Int() + 1)
	}
}

func TestAReplyOfAnotherCallIsFoundWithoutTheFullCheck(t *testing.T) {
	mine, other := New(), New()
	mine.Mark(1, 7)
	for _, who := range [][2]int{{2, 7}, {1, 8}} {
		other.Mark(who[0], who[1])
		other.Answer()
		if mine.CheckReply(other, false) == nil {
			t.Errorf("reply of caller %d, call %d taken for that of caller 1, call 7", who[0], who[1])
		}
	}
	if mine.CheckReply(nil, false) == nil || NewProto().CheckReply(nil, false) == nil {
		t.Error("no reply at all was not found")
	}
}

func TestAReplyThatChangesLaterIsFound(t *testing.T) {
	request := New()
	request.Mark(1, 1)
	buffer := []byte(request.Field4)
	reply := *request
	reply.Answer()
	reply.Field4 = unsafe.String(&buffer[0], len(buffer))
	var kept Keeper
	if err := kept.Message(request, &reply); err != nil {
		t.Fatal(err)
	}
	buffer[0]++
	next := *request
	next.Answer()
	if kept.Message(request, &next) == nil {
		t.Error("plain: a reply's string has changed, not found")
	}
	asProto := NewProto()
	first := proto.CloneOf(asProto)
	first.Answer()
	var keptProto Keeper
	if err := keptProto.Proto(asProto, first); err != nil {
		t.Fatal(err)
	}
	first.Field7 = "another"
	if keptProto.Proto(asProto, first) == nil {
		t.Error("protobuf: a reply's string has changed, not found")
	}
}

func TestAWrongEchoOfBytesIsFound(t *testing.T) {
	sent, echo := NewBytes(100), NewBytes(100)
	MarkBytes(sent, 1, 2)
	MarkBytes(echo, 1, 2)
	if err := CheckBytes(sent, echo, true); err != nil {
		t.Fatal(err)
	}
	if CheckBytes(sent, echo[:99], false) == nil {
		t.Error("a short echo was not found")
	}
	echo[50]++
	if CheckBytes(sent, echo, true) == nil {
		t.Error("a changed byte was not found")
	}
	echo[50]--
	MarkBytes(echo, 2, 2)
	if CheckBytes(sent, echo, false) == nil {
		t.Error("another caller's echo was not found")
	}
}
