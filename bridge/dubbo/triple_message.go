package dubbo

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sabir-go/sabir/codec/hessian"
)

// Triple is gRPC: a message is a byte that says whether it is compressed, four for its length, and its bytes.
const (
	messageHead     = 5
	flagCompressed  = 1
	flagTrailers    = 0x80       // of gRPC-Web
	formatOfWrapper = "hessian4" // as Java calls Hessian 2 in wrappers
)

var errCompression = errors.New("a message is compressed in a way that is not read: use gzip, or none")

// readMessage reads the next message, or io.EOF. encoding is that of compressed ones. The caller frees len(data) of held.
func readMessage(r io.Reader, encoding string, held *bodies) (data []byte, err error) {
	var head [messageHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[1:])
	switch {
	case head[0] > flagCompressed:
		return nil, fmt.Errorf("a message begins with %#x: want 0, or 1 if it is compressed", head[0])
	case length > maxBody:
		return nil, errTooLarge
	case head[0] == flagCompressed && encoding != "gzip":
		return nil, errCompression
	}
	if data, err = readBody(r, int(length), held); err != nil || head[0] == 0 {
		return data, err
	}
	defer held.free(len(data))
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return readAll(z, maxBody, held)
}

// readAll reads what comes until the end, which is at most limit bytes. The caller frees len(data) of held.
func readAll(r io.Reader, limit int, held *bodies) (data []byte, err error) {
	data = []byte{}
	for {
		if len(data) == cap(data) {
			next := min(limit+1, max(2*len(data), firstPiece)) - len(data)
			if !held.reserve(next) {
				held.free(cap(data))
				return nil, errNoMemory
			}
			grown := make([]byte, len(data), len(data)+next)
			copy(grown, data)
			data = grown
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == nil && len(data) > limit {
			err = errTooLarge
		}
		if err == io.EOF {
			held.free(cap(data) - len(data))
			return data, nil
		}
		if err != nil {
			held.free(cap(data))
			return nil, err
		}
	}
}

// appendMessage appends a message to dst.
func appendMessage(dst, data []byte) []byte {
	dst = append(dst, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data)))
	return append(dst, data...)
}

// wrapped holds the fields of a message with values of Java: TripleRequestWrapper or TripleResponseWrapper. Both have the fields 1, the format; 2, the
// values, each a Hessian stream of its own; 3, the names of their classes.
type wrapped struct {
	format string
	values [][]byte
	types  []string // as Java's source has them
}

// wrappers that others write hold the arguments of a method, so that more fields are forged.
const maxWrapped = 2 * maxArguments

var errNoWrapper = errors.New("the message is no wrapper of Triple, which has the fields serializeType, args and argTypes")

// readWrapper reads a message. Its values are parts of data.
func readWrapper(data []byte) (*wrapped, error) {
	w := new(wrapped)
	for fields := 0; len(data) > 0; fields++ {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 || kind != protowire.BytesType || fields > maxWrapped {
			return nil, errNoWrapper
		}
		value, size := protowire.ConsumeBytes(data[n:])
		if size < 0 {
			return nil, errNoWrapper
		}
		switch number {
		case 1:
			w.format = string(value)
		case 2:
			w.values = append(w.values, value)
		case 3:
			w.types = append(w.types, sourceType(string(value)))
		default:
			return nil, errNoWrapper
		}
		data = data[n+size:]
	}
	switch {
	case w.format != formatOfWrapper && w.format != "hessian2":
		return nil, fmt.Errorf("%w: %.100q: set serialization=hessian2", errFormat, w.format)
	case len(w.types) == 0:
		w.types = make([]string, len(w.values))
	case len(w.types) < len(w.values):
		return nil, fmt.Errorf("%d values of %d types", len(w.values), len(w.types))
	}
	// Java names the type of the observer too that a stream is sent to, which is no value.
	w.types = w.types[:len(w.values)]
	return w, nil
}

var errFormat = errors.New("this serialization is not spoken")

// appendWrapper appends a message. types are as Java's source has them.
func appendWrapper(dst []byte, values [][]byte, types []string) []byte {
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendString(dst, formatOfWrapper)
	for _, v := range values {
		dst = protowire.AppendTag(dst, 2, protowire.BytesType)
		dst = protowire.AppendBytes(dst, v)
	}
	for _, t := range types {
		dst = protowire.AppendTag(dst, 3, protowire.BytesType)
		dst = protowire.AppendString(dst, className(t))
	}
	return dst
}

// javaTypeOf is the Java type of a Hessian value, as far as its first bytes tell it.
func javaTypeOf(value []byte) string {
	if len(value) == 0 {
		return "java.lang.Object"
	}
	switch tag := value[0]; {
	case tag < 0x20, tag >= 0x30 && tag <= 0x33, tag == 'S', tag == 'R':
		return "java.lang.String"
	case tag >= 0x20 && tag <= 0x2f, tag >= 0x34 && tag <= 0x37, tag == 'B', tag == 'A':
		return "byte[]"
	case tag >= 0x38 && tag <= 0x3f, tag >= 0xd8 && tag <= 0xef, tag == 0x59, tag == 'L':
		return "java.lang.Long"
	case tag >= 0x80 && tag <= 0xd7, tag == 'I':
		return "java.lang.Integer"
	case tag >= 0x5b && tag <= 0x5f, tag == 'D':
		return "java.lang.Double"
	case tag == 'T', tag == 'F':
		return "java.lang.Boolean"
	case tag == 0x4a, tag == 0x4b:
		return "java.util.Date"
	case tag == 'H', tag == 'M':
		return "java.util.Map"
	case tag >= 0x55 && tag <= 0x58, tag >= 0x70 && tag <= 0x7f:
		return "java.util.List"
	case tag == 'C':
		var class string
		if hessian.NewDecoder(value[1:]).Decode(&class) == nil && class != "" {
			return class
		}
	}
	return "java.lang.Object"
}

// setMessageLength completes a message whose head was left free.
func setMessageLength(whole []byte) []byte {
	binary.BigEndian.PutUint32(whole[1:], uint32(len(whole)-messageHead))
	return whole
}
