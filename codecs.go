package sabir

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/native"
	"github.com/sabir-go/sabir/wire"
)

// Codecs names the formats in which values may travel over links, the best first: "native", "json", or a codec whose
// package the program imports, such as "msgpack".
//
//	import _ "github.com/sabir-go/sabir/codec/msgpack"
//
//	sabir.NewNode(sabir.Codecs("msgpack", "json"), …)              // for all calls of and to this node
//	sabir.Join("tcp://:7700", sabir.Codecs("cbor"))                // for the links of this cluster, instead
//	sabir.Handle(s, "put", put, sabir.Codecs("protobuf"))          // for this action, instead
//
// For each pair of nodes the first of the caller's formats that the other node takes is used; an action's own formats, which
// callers learn from the node that offers it, go before those of either node. Where nothing is left, the call fails with
// [ErrNoCodec], which says what each side has. Without Codecs it is native, or JSON for values that have no native form, and
// any other format that the program links is understood.
//
// Some values are not a matter of choice: generated messages of Protocol Buffers always travel as such, and values without
// a type of their own (any, json.RawMessage), such as command lines send, as JSON.
func Codecs(names ...string) CodecsOption { return CodecsOption{names} }

// CodecsOption is what Codecs returns: an option of NewNode, Join, Handle and HandleStream.
type CodecsOption struct{ names []string }

func (o CodecsOption) applyNode(n *Node)         { n.codecs = o.names }
func (o CodecsOption) applyJoin(c *joinConfig)   { c.codecs = o.names }
func (o CodecsOption) applyAction(d *definition) { d.codecs = o.names }

// formats is what this node sends and takes, the best first; nil for whatever it can.
func (n *Node) formats() []string {
	if len(n.joins) > 0 && n.joins[0].codecs != nil {
		return n.joins[0].codecs
	}
	return n.codecs
}

// understood is the formats that other nodes may send, as they are told.
func (n *Node) understood() []string {
	if own := n.formats(); own != nil {
		return own
	}
	names := codec.Names()
	if !slices.Contains(names, native.Name) {
		names = append(names, native.Name)
	}
	return names
}

// linked finds the first format that the program does not link.
func linkedFormats(names []string) error {
	for _, name := range names {
		if name == native.Name {
			continue
		}
		if _, ok := codec.Lookup(name); !ok {
			return missingCodec(name)
		}
	}
	return nil
}

func missingCodec(name string) error {
	return &codecError{Codec: name, Offset: -1,
		Message: `the program links no codec of that name: add import _ "github.com/sabir-go/sabir/codec/` + name + `" if it is one of these`}
}

// formatFor chooses the format for calls of an action that send In and receive Out, to a node that takes theirs; nil is
// whatever it is sent.
func formatFor[In, Out any](n *Node, action *Action, peer string, theirs []string) (string, error) {
	takes := func(names []string, format string) bool { return names == nil || slices.Contains(names, format) }
	fixed := fixedFormat[In, Out]()
	if strings.HasPrefix(action.Name, "$") || fixed == json.Name { // what nodes and tools ask nodes has to work always
		if fixed == "" {
			fixed = naturalFormat[In, Out]()
		}
		return fixed, nil
	}
	own := n.formats()
	wanted := action.Codecs
	switch {
	case fixed != "":
		wanted = []string{fixed}
	case wanted == nil:
		wanted = own
	}
	if wanted == nil {
		natural := naturalFormat[In, Out]()
		if takes(theirs, natural) {
			return natural, nil
		}
		wanted = theirs
	}
	for _, format := range wanted {
		if (takes(own, format) || fixed != "") && takes(theirs, format) && linkedFormats([]string{format}) == nil {
			return format, nil
		}
	}
	return "", &Error{Code: FailedPrecondition, Name: nameNoCodec, Node: n.id,
		Message: fmt.Sprintf("no codec in common with node %s for %s: %s%s takes %s", peer, action.Name, n.saysFormats(own), wantedBy(action), strings.Join(theirs, ", "))}
}

// saysFormats is what this node has, for an error.
func (n *Node) saysFormats(own []string) string {
	if own == nil {
		own = n.understood()
	}
	return "this one has " + strings.Join(own, ", ") + ", "
}

func wantedBy(action *Action) string {
	if action.Codecs == nil {
		return "that one"
	}
	return "the action wants " + strings.Join(action.Codecs, " or ") + ", that node"
}

// fixedFormat is the format of values that leave no choice: that of a codec which claims them, and JSON for values without
// a type of their own; "" for others.
func fixedFormat[In, Out any]() string {
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	if name := codec.Claimed(in); name != "" && (out == nothingType || codec.Claimed(out) == name) {
		return name
	}
	if name := codec.Claimed(out); name != "" && in == nothingType {
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
func naturalFormat[In, Out any]() string {
	if native.For[In]().Err() != nil || native.For[Out]().Err() != nil {
		return json.Name
	}
	return native.Name
}

// takes tells whether calls of a name, whose action may have formats of its own, may come in that format; nil is yes.
func (n *Node) takes(name string, wanted []string, format string) *Error {
	own := n.formats()
	if own == nil || format == json.Name || slices.Contains(own, format) || slices.Contains(wanted, format) || strings.HasPrefix(name, "$") {
		return nil
	}
	return &Error{Code: FailedPrecondition, Name: nameNoCodec, Node: n.id,
		Message: "node " + n.id + " takes no values as " + format + ": it takes " + strings.Join(own, ", ")}
}

// theirFormats is what the node at the other end of a link takes.
func theirFormats(l *wire.Link) []string {
	about, _ := parseAbout(l.Peer().About) // admit read it before
	return about.Codecs
}
