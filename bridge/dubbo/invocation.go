package dubbo

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/hessian"
)

// What both sides write as their version of the protocol: answers may have attachments.
const protocolVersion = "2.0.2"

// Methods that every interface has, for callers without its classes, and to try a connection.
const (
	genericMethod      = "$invoke"
	genericAsyncMethod = "$invokeAsync"
	echoMethod         = "$echo"
	genericDescriptor  = "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;"
)

// invocation is a call that came in. It is the codec of its arguments and its answer: see decodeArguments.
type invocation struct {
	path, version, method string
	types                 []string // of the arguments
	declared              bool     // the method is declared with parameters, and so many
	arguments             []byte   // a stream of Hessian values of its own
	each                  [][]byte // in its place a stream for each argument, as Triple has them; nil for none
	attachments           map[string]any
	answersAttachments    bool // the caller reads those of answers
	generic               bool // the answer has maps in place of objects
}

// readInvocation reads the body of a request.
func readInvocation(body []byte) (*invocation, error) {
	d := takeDecoder(body)
	defer putDecoder(d)
	var protocol, descriptor string
	inv := new(invocation)
	for _, text := range []*string{&protocol, &inv.path, &inv.version, &inv.method, &descriptor} {
		if err := d.Decode(text); err != nil {
			return nil, err
		}
	}
	var err error
	if inv.types, err = typesOf(descriptor); err != nil {
		return nil, err
	}
	// Texts have no number in Hessian, so the arguments can be read as if nothing was before them.
	inv.arguments = body[len(body)-d.Len():]
	for range inv.types {
		if err := d.Skip(); err != nil {
			return nil, err
		}
	}
	inv.arguments = inv.arguments[:len(inv.arguments)-d.Len()]
	if d.Len() > 0 {
		if err := d.Decode(&inv.attachments); err != nil {
			return nil, fmt.Errorf("the attachments: %w", err)
		}
	}
	inv.answersAttachments = readsAttachments(protocol)
	if (inv.method == genericMethod || inv.method == genericAsyncMethod) && descriptor == genericDescriptor {
		err = inv.readGeneric()
	}
	return inv, err
}

// readsAttachments reports whether callers of a version of the protocol read the attachments of answers: those from 2.0.2 to 2.0.99.
func readsAttachments(version string) bool {
	last, ok := strings.CutPrefix(version, "2.0.")
	n, err := strconv.Atoi(last)
	return ok && err == nil && n >= 2 && n <= 99
}

// readGeneric makes of a generic call what it stands for: the name of a method, the types of its parameters, and the arguments in a list.
func (inv *invocation) readGeneric() error {
	if how := inv.attachment("generic"); how != "" && how != "true" {
		return fmt.Errorf("generic calls of the kind %q: only \"true\", with maps in place of objects, can be read", how)
	}
	var values []any
	var types []string
	d := takeDecoder(inv.arguments)
	defer putDecoder(d)
	for i, v := range []any{&inv.method, &types, &values} {
		if inv.each != nil {
			d.Reset(inv.each[i])
		}
		if err := d.Decode(v); err != nil {
			return err
		}
	}
	switch {
	case len(values) > maxArguments:
		return fmt.Errorf("%d arguments: a method has at most %d", len(values), maxArguments)
	case types == nil:
		types = make([]string, len(values))
	case len(types) != len(values):
		return fmt.Errorf("%d arguments for %d types", len(values), len(types))
	}
	e := hessian.NewEncoder(nil)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	for i, t := range types {
		types[i] = sourceType(t)
	}
	inv.generic, inv.types, inv.arguments, inv.each = true, types, e.Bytes(), nil
	return nil
}

// attachment is one that is a text; "" for none.
func (inv *invocation) attachment(key string) string {
	text, _ := inv.attachments[key].(string)
	return text
}

// Name implements codec.Codec.
func (*invocation) Name() string { return hessian.Codec.Name() }

// Decode implements codec.Codec.
func (inv *invocation) Decode(data []byte, v any) error {
	return decodeArguments(data, inv.each, inv.types, inv.declared, inv.generic, v)
}

// Append implements codec.Codec.
func (inv *invocation) Append(dst []byte, v any) ([]byte, error) {
	switch {
	case isEmpty(v):
		return append(dst, 'N'), nil
	case inv.generic:
		return appendGeneralized(dst, v)
	}
	return hessian.Codec.Append(dst, v)
}

func isEmpty(v any) bool {
	switch v.(type) {
	case *sabir.Empty, sabir.Empty:
		return true
	}
	return false
}

// outgoing is a call that is made. It is the codec of its arguments and its answer.
type outgoing struct{ to *method }

// Name implements codec.Codec.
func (outgoing) Name() string { return hessian.Codec.Name() }

// Decode implements codec.Codec.
func (outgoing) Decode(data []byte, v any) error {
	if isEmpty(v) {
		return nil
	}
	return hessian.Codec.Decode(data, v)
}

// Append implements codec.Codec.
func (o outgoing) Append(dst []byte, v any) ([]byte, error) {
	values, err := arguments(o.to.types, v)
	if err != nil {
		return dst, err
	}
	if o.to.types == nil { // a generic call: the provider finds the method by its name
		values = []any{o.to.name, nil, &hessian.List{Type: "[object", Items: values}}
	}
	e := hessian.NewEncoder(dst)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			return dst, err
		}
	}
	return e.Bytes(), nil
}

// appendTexts appends texts as Hessian values.
func appendTexts(dst []byte, texts ...string) ([]byte, error) {
	for _, text := range texts {
		var err error
		if dst, err = hessian.Codec.Append(dst, text); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// reply is the body of an answer to a call.
type reply struct {
	value       []byte             // a stream of Hessian values of its own
	exception   *hessian.Exception // in place of the value
	attachments map[string]any
}

// The kinds of replies. Those from withAttachments on have attachments behind the value.
const (
	replyException  = 0
	replyValue      = 1
	replyNull       = 2
	withAttachments = 3
)

var errNoReply = errors.New("the answer of a call is none: it begins with an unknown kind")

func readReply(body []byte) (*reply, error) {
	d := takeDecoder(body)
	defer putDecoder(d)
	var kind int
	if err := d.Decode(&kind); err != nil {
		return nil, err
	}
	if kind < 0 || kind > withAttachments+replyNull {
		return nil, errNoReply
	}
	out := new(reply)
	switch kind % withAttachments {
	case replyException:
		out.exception = new(hessian.Exception)
		if err := d.Decode(out.exception); err != nil {
			return nil, err
		}
	case replyValue:
		out.value = body[len(body)-d.Len():]
		if err := d.Skip(); err != nil {
			return nil, err
		}
		out.value = out.value[:len(out.value)-d.Len()]
	case replyNull:
		out.value = []byte{'N'}
	}
	if kind >= withAttachments {
		return out, d.Decode(&out.attachments)
	}
	return out, nil
}

// appendKind appends the kind of a reply, which is a small int.
func appendKind(dst []byte, kind int, attachments bool) []byte {
	if attachments {
		kind += withAttachments
	}
	return append(dst, byte(0x90+kind))
}

// appendAttachments appends the attachments behind a reply of such a kind.
func appendAttachments(dst []byte, attachments map[string]string) []byte {
	dst, err := hessian.Codec.Append(dst, attachments)
	if err != nil { // a text that is not UTF-8
		return append(dst, 'H', 'Z')
	}
	return dst
}
