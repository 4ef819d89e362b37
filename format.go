package sabir

import (
	"encoding/binary"
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/claim"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/wire"
)

// Codecs sets the formats of values on links, the best first. Each codec's package has its codec as the variable Codec.
//
//	import "github.com/sabir-go/sabir/codec/msgpack"
//
//	sabir.NewNode(sabir.Codecs(msgpack.Codec, json.Codec), …)      // for all calls of and to this node
//	sabir.Join("tcp://:7700", sabir.Codecs(cbor.Codec))            // for the links of this cluster, instead
//	sabir.Handle(s, "put", put, sabir.Codecs(protobuf.Codec))      // for this action, instead
//
// For each pair of nodes the first of the caller's formats that the other node takes is used; an action's own formats, which
// callers learn from the node that offers it, go before those of either node. Where nothing is left, the call fails with
// NoCommonCodec, which lists what each side has. By default it is native, or JSON for values that have no native form, and
// any other format that the program links is understood.
//
// Nodes agree on names, so each codec must be the one that is registered under its name: a nil codec, one that is not
// registered and one of the name of another, such as json.New(json.Config{Strict: true}), are BadOption at the start, with the file
// and line of Codecs. Use [codec.Lookup] for a name that comes from a setting.
//
// Given several times, the codecs add up in their order.
//
// Some values are not a matter of choice: generated messages of Protocol Buffers are always sent as such, and values without
// a type of their own (any, json.RawMessage), such as command lines send, as JSON.
func Codecs(codecs ...codec.Codec) interface {
	NodeOption
	ActionOption
	cluster.Option
} {
	return codecsOption{option.Caller(), codecs}
}

type codecsOption struct {
	at     option.Site
	codecs []codec.Codec
}

func (o codecsOption) applyNode(n *Node) {
	names, err := o.names()
	n.codecs = append(n.codecs, names...)
	n.optionProblem(err)
}

// ApplyJoin makes Codecs an option of Join.
func (o codecsOption) ApplyJoin(c *joining.Config) {
	names, err := o.names()
	c.Codecs = append(c.Codecs, names...)
	if err != nil {
		c.Problems = append(c.Problems, err)
	}
}

// applyAction keeps the codecs for the start: a service may be declared before an init function registers them.
func (o codecsOption) applyAction(d *definition) { d.codecs = append(slices.Clip(d.codecs), o) }

// names returns the names of the codecs, and the error of the first that is not registered.
func (o codecsOption) names() ([]string, error) {
	names := make([]string, 0, len(o.codecs))
	for _, c := range o.codecs {
		if c == nil {
			return nil, fmt.Errorf("%s: Codecs was given a nil codec: give it one such as json.Codec, of a package below codec", o.at)
		}
		known, ok := codec.Lookup(c.Name())
		if !ok {
			return nil, fmt.Errorf("%s: Codecs: the codec %q is not registered: call codec.Register with it in an init function", o.at, c.Name())
		}
		if own := codec.Contained(c); !reflect.ValueOf(own).Comparable() || own != known {
			return nil, fmt.Errorf("%s: Codecs: this codec %q is not the one that is registered under that name, by which nodes agree: "+
				"use the registered one, or give this one a name of its own and register a pointer to it", o.at, c.Name())
		}
		names = append(names, c.Name())
	}
	return names, nil
}

// formats returns the names of an action's own codecs; nil where it has none.
func (d *definition) formats(n *Node) (all []string, err error) {
	for _, o := range d.codecs {
		names, err := o.names()
		if err != nil {
			return nil, &Error{Code: CodeInvalidArgument, Name: nameBadOption, Node: n.id, Message: "action " + d.short + ": " + err.Error()}
		}
		all = append(all, names...)
	}
	return all, nil
}

// preferredFormats lists the formats that this node sends and takes, the best first; nil for any that it can.
func (n *Node) preferredFormats() []string {
	if len(n.joins) > 0 && n.joins[0].Codecs != nil {
		return n.joins[0].Codecs
	}
	return n.codecs
}

// acceptedFormats lists the formats that other nodes may send to this one.
func (n *Node) acceptedFormats() []string {
	if own := n.preferredFormats(); own != nil {
		return own
	}
	return codec.Names()
}

// linked reports whether the codec of a format is part of the program.
func linked(format string) bool {
	_, ok := codec.Lookup(format)
	return ok
}

func missingCodec(name string) error {
	return &codecError{Codec: name, Offset: -1,
		Message: `the program links no codec of that name: add import _ "github.com/sabir-go/sabir/codec/` + name + `" if it is one of these`}
}

// chooseFormat chooses the format for calls of an action that send in and receive out, to a node that takes theirs; nil
// means that it takes any.
func (n *Node) chooseFormat(action *Action, peer string, theirs []string, in, out reflect.Type) (string, error) {
	fixed := fixedFormat(in, out)
	takes := func(names []string, format string) bool { return names == nil || slices.Contains(names, format) }
	if strings.HasPrefix(action.Name, "$") || fixed == json.Name { // what nodes and tools ask nodes has to work always
		if fixed == "" {
			fixed = naturalFormat(in, out)
		}
		return fixed, nil
	}
	own := n.preferredFormats()
	wanted := action.Codecs
	switch {
	case fixed != "":
		wanted = []string{fixed}
	case wanted == nil:
		wanted = own
	}
	if wanted == nil {
		if format := naturalFormat(in, out); takes(theirs, format) {
			return format, nil
		}
		wanted = theirs
	}
	for _, format := range wanted {
		if (takes(own, format) || fixed != "") && takes(theirs, format) && linked(format) {
			return format, nil
		}
	}
	return "", &Error{Code: CodeFailedPrecondition, Name: nameNoCommonCodec, Node: n.id,
		Message: fmt.Sprintf("no codec in common with node %s for %s: %s%s takes %s", peer, action.Name, n.describeFormats(own), wantedBy(action), strings.Join(theirs, ", "))}
}

// describeFormats lists this node's formats for an error.
func (n *Node) describeFormats(own []string) string {
	if own == nil {
		own = n.acceptedFormats()
	}
	return "this one has " + strings.Join(own, ", ") + ", "
}

func wantedBy(action *Action) string {
	if action.Codecs == nil {
		return "that one"
	}
	return "the action wants " + strings.Join(action.Codecs, " or ") + ", that node"
}

// fixedFormat is the format of types that leave no choice: that of a codec which claims them, or JSON for types that can
// hold anything. It is "" for all others.
func fixedFormat(in, out reflect.Type) string {
	if name := claim.Codec(in); name != "" && (out == nothingType || claim.Codec(out) == name) {
		return name
	}
	if name := claim.Codec(out); name != "" && in == nothingType {
		return name
	}
	switch {
	case generated(in) || generated(out):
		return protobufName
	case untyped(in) || untyped(out):
		return json.Name
	}
	return ""
}

// naturalFormat is native where both types have a native form, else JSON.
func naturalFormat(in, out reflect.Type) string {
	for _, t := range []reflect.Type{in, out} {
		if _, err := native.Of(t); err != nil {
			return json.Name
		}
	}
	return native.Name
}

// checkFormat returns an error where values in the format may not come in for an action that has the wanted formats of its
// own.
func (n *Node) checkFormat(name string, wanted []string, format string) *Error {
	own := n.preferredFormats()
	if own == nil || format == json.Name || slices.Contains(own, format) || slices.Contains(wanted, format) || strings.HasPrefix(name, "$") {
		return nil
	}
	return &Error{Code: CodeFailedPrecondition, Name: nameNoCommonCodec, Node: n.id,
		Message: "node " + n.id + " takes no values as " + format + ": it takes " + strings.Join(own, ", ")}
}

// valueFormat encodes values of one type for links: natively, or by a codec. On the wire a value is the number of its schema on
// that link, 0 without one, and then its bytes.
//
// It takes values by pointer, in an interface, since what is generic is compiled for each type that a program has.
type valueFormat struct {
	typ    reflect.Type
	native *native.Dynamic // nil: the codec
	codec  codec.Codec
}

// formatOf is the valueFormat of a type for a format's name.
func formatOf(t reflect.Type, format string) (valueFormat, error) {
	if format == native.Name {
		if d, err := native.Of(t); err == nil && !untyped(t) {
			return valueFormat{typ: t, native: d}, nil
		}
		format = json.Name // a value with a schema is native for its reader, one without is JSON
	}
	c, ok := codec.Lookup(format)
	if !ok {
		return valueFormat{}, missingCodec(format)
	}
	return valueFormat{typ: t, codec: c}, nil
}

var (
	nothingType = reflect.TypeFor[Empty]()
	rawType     = reflect.TypeFor[stdjson.RawMessage]()
)

// protobufName is the codec for generated messages; formatOf fails where the program does not link it.
const protobufName = "protobuf"

// generated reports whether the type is a message that Protocol Buffers generated. The native format can hold most of them,
// but not the unknown fields and extensions that they carry.
func generated(t reflect.Type) bool {
	_, ok := t.MethodByName("ProtoReflect")
	return ok && t.Kind() == reflect.Pointer
}

func untyped(t reflect.Type) bool { return t.Kind() == reflect.Interface || t == rawType }

// schemaNumber is the number of the type's schema on the link, declared there at first use. It is 0 where it has none, and where the
// peer accepts no more schemas.
func (f *valueFormat) schemaNumber(l *wire.Link) uint32 {
	if f.native == nil {
		return 0
	}
	number, err := l.DeclareSchema(f.native.Schema())
	if err != nil {
		return 0
	}
	return number
}

// append appends the value that v points to, encoded with the schema of that number. A native value without a number goes as JSON, which
// every reader of native values takes.
func (f *valueFormat) append(dst []byte, number uint32, v any) ([]byte, error) {
	dst = binary.AppendUvarint(dst, uint64(number))
	switch {
	case f.native == nil:
		return f.codec.Append(dst, v)
	case number == 0:
		return json.Codec.Append(dst, v)
	}
	return f.native.AppendValue(dst, v)
}

// reader decodes into one type what one peer encodes with one schema.
type reader struct {
	schema *wire.Schema
	native *native.Dynamic
}

// sharing says what of the data that a value is read from may become a part of the value.
type sharing uint8

const (
	sharesNothing sharing = iota
	sharesLarge           // large texts and bytes: kept reports that some did, and then the data must not be used again
	sharesAll             // all texts and bytes: the value must not be used after the data
)

// sharesIf has large parts shared of data that the reader owns.
func sharesIf(owned bool) sharing {
	if owned {
		return sharesLarge
	}
	return sharesNothing
}

// decode reads a value that came with the schema, nil for none, into what v points to. last holds the reader of the
// schema that came before, which is nearly always the same.
func (f *valueFormat) decode(data []byte, schema *wire.Schema, share sharing, last *atomic.Pointer[reader], v any) (kept bool, err error) {
	if f.native == nil && schema == nil {
		return false, f.codec.Decode(data, v)
	}
	if f.native == nil { // natively written for a reader without a type
		text, err := schema.AppendJSON(nil, data)
		if err != nil {
			return false, err
		}
		return false, json.Codec.Decode(text, v)
	}
	if schema == nil { // the sender's type has no native form
		return false, json.Codec.Decode(data, v)
	}
	r := last.Load()
	if r == nil || r.schema != schema {
		t, err := f.readerOf(schema)
		if err != nil {
			return false, err
		}
		r = &reader{schema, t}
		last.Store(r)
	}
	switch share {
	case sharesLarge:
		return r.native.DecodeOwned(data, v)
	case sharesAll:
		return false, r.native.DecodeAlias(data, v)
	}
	return false, r.native.DecodeValue(data, v)
}

// readerOf finds or compiles the translation from the schema to the type. Schemas belong to links, and readers end with them.
func (f *valueFormat) readerOf(schema *wire.Schema) (*native.Dynamic, error) {
	if known := schema.Reader(f.typ); known != nil {
		return known.(*native.Dynamic), nil
	}
	t, err := f.native.From(schema.Schema)
	if err != nil {
		return nil, err
	}
	return schema.KeepReader(f.typ, t).(*native.Dynamic), nil
}
