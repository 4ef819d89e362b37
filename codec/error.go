package codec

import (
	"strconv"
	"strings"
	"unicode"
)

// maxPointerText is the most bytes of a pointer that Error prints. A pointer is made of names that the sender chose,
// so it may be as long as the message.
const maxPointerText = 128

// Error describes why a value could not be decoded or encoded, and where. It is the error that every codec returns for
// bad input; find it with errors.As or errors.AsType[*codec.Error].
//
// A codec puts no text of a string from the input into it, which could be a secret; the names of members and keys in
// Pointer are the exception, and so is the error of a type's own method when it refuses its input.
type Error struct {
	// Codec is the name of the codec, such as "json".
	Codec string

	// Offset is the number of bytes of the input before the fault or the value that has it, or -1 where it is not
	// known. When encoding there is no input, so it is -1.
	Offset int64

	// Pointer is the place of the fault as a JSON Pointer (RFC 6901), such as "/items/2/price". It is "" for the
	// whole value, and where the place is not known. Codecs other than JSON use the same notation.
	Pointer string

	// Want names the kind of value that the target takes, and Got the one in the input, such as "number" and "string". Both
	// are "" where the fault is of another kind.
	Want, Got string

	// Message describes what is wrong where Want and Got do not, or adds to them. It may be "".
	Message string

	// Err is the error beneath this one, or nil. It is not part of the text, so that the text does not depend on a
	// library.
	Err error
}

// Error returns one line such as
//
//	json: at /items/2/price: want number, got string (offset 48)
func (e *Error) Error() string {
	var b strings.Builder
	if e.Codec != "" {
		b.WriteString(e.Codec)
		b.WriteString(": ")
	}
	if e.Pointer != "" {
		b.WriteString("at ")
		b.WriteString(printable(e.Pointer))
		b.WriteString(": ")
	}
	b.WriteString(e.fault())
	if e.Offset >= 0 {
		b.WriteString(" (offset ")
		b.WriteString(strconv.FormatInt(e.Offset, 10))
		b.WriteString(")")
	}
	return b.String()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) fault() string {
	var parts []string
	if e.Want != "" {
		parts = append(parts, "want "+e.Want)
	}
	if e.Got != "" {
		parts = append(parts, "got "+e.Got)
	}
	text := strings.Join(parts, ", ")
	switch {
	case text == "" && e.Message == "":
		return "bad input"
	case text == "":
		return e.Message
	case e.Message == "":
		return text
	}
	return text + ": " + e.Message
}

// printable shortens a pointer to its first bytes and quotes it if it could break a line of a log.
func printable(pointer string) string {
	cut := pointer
	if len(cut) > maxPointerText {
		cut = strings.ToValidUTF8(cut[:maxPointerText], "") + "…"
	}
	unsafe := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if strings.ContainsFunc(cut, unsafe) {
		return strconv.Quote(cut)
	}
	return cut
}
