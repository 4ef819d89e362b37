package rpc

import (
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"sync"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/sabir-go/sabir/internal/protobuf"
)

// rawJSON is a document of JSON, as sabir.CallJSON and gateways hand it over.
type rawJSON = stdjson.RawMessage

// messageFormat is the codec of the values of one message of a foreign server: of structs, which must fit, of generated messages, and of
// documents of JSON.
type messageFormat struct {
	message protoreflect.MessageDescriptor
	known   messageTypes
	checked sync.Map // reflect.Type to the error of fits
}

// Name implements codec.Codec.
func (*messageFormat) Name() string { return protobuf.Codec.Name() }

// Append implements codec.Codec.
func (f *messageFormat) Append(dst []byte, v any) ([]byte, error) {
	if text, ok := v.(*rawJSON); ok {
		m := dynamicpb.NewMessage(f.message)
		if err := (protojson.UnmarshalOptions{Resolver: f.known}).Unmarshal(*text, m); err != nil {
			return dst, err
		}
		return proto.MarshalOptions{}.MarshalAppend(dst, m)
	}
	if err := f.fits(v); err != nil {
		return dst, err
	}
	return protobuf.Codec.Append(dst, v)
}

// Decode implements codec.Codec.
func (f *messageFormat) Decode(data []byte, v any) error {
	if text, ok := v.(*rawJSON); ok {
		m := dynamicpb.NewMessage(f.message)
		if err := proto.Unmarshal(data, m); err != nil {
			return err
		}
		var err error
		*text, err = protojson.MarshalOptions{Resolver: f.known}.Marshal(m)
		return err
	}
	if err := f.fits(v); err != nil {
		return err
	}
	return protobuf.Codec.Decode(data, v)
}

// messageTypes finds the messages that are in an Any: those of the server, and those that this program has.
type messageTypes struct{ *dynamicpb.Types }

// FindMessageByURL implements the Resolver of protojson.
func (t messageTypes) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	if found, err := t.Types.FindMessageByURL(url); err == nil {
		return found, nil
	}
	return protoregistry.GlobalTypes.FindMessageByURL(url)
}

// fits reports where the type that v points to has a field under another number or name than the message.
func (f *messageFormat) fits(v any) error {
	t := reflect.TypeOf(v)
	if known, ok := f.checked.Load(t); ok {
		err, _ := known.(error)
		return err
	}
	var err error
	if _, generated := v.(proto.Message); !generated && t.Kind() == reflect.Pointer {
		var d protoreflect.MessageDescriptor
		if d, err = protobuf.Descriptor(t.Elem()); err == nil {
			err = compare(t.Elem().String(), d, f.message, make(map[protoreflect.FullName]bool))
		}
	}
	f.checked.Store(t, err)
	return err
}

// compare compares the fields of a Go type, as its descriptor own has them, with those of a message, and of the messages within.
func compare(where string, own, there protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) error {
	if seen[own.FullName()] || own.FullName() == there.FullName() {
		return nil
	}
	seen[own.FullName()] = true
	for i := range own.Fields().Len() {
		field := own.Fields().Get(i)
		if same := there.Fields().ByName(field.Name()); same != nil && same.Number() != field.Number() {
			return fmt.Errorf("%s: the field %s has number %d, and in %s number %d: give it the tag `protobuf:\"%d\"`", where, field.Name(), field.Number(), there.FullName(), same.Number(), same.Number())
		}
		same := there.Fields().ByNumber(field.Number())
		switch {
		case same == nil: // the server skips it, or does not send it
		case same.Name() != field.Name():
			return fmt.Errorf("%s: the field %s has number %d, which is %s in %s: give each field its number, with the tag `protobuf:\"…\"`", where, field.Name(), field.Number(), same.Name(), there.FullName())
		case (field.Message() == nil) != (same.Message() == nil):
			return fmt.Errorf("%s: the field %s is %s here, and in %s %s", where, field.Name(), field.Kind(), there.FullName(), same.Kind())
		case field.Message() != nil:
			if err := compare(where+"."+string(field.Name()), field.Message(), same.Message(), seen); err != nil {
				return err
			}
		}
	}
	return nil
}
