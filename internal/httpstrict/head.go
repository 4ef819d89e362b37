package httpstrict

import (
	"bytes"
	"math"
	"strings"
)

// field is a header that decides about the message itself.
type field int

const (
	otherField field = iota
	hostField
	lengthField
	codingField
	connectionField
	fields
)

var fieldNames = map[string]field{"host": hostField, "content-length": lengthField, "transfer-encoding": codingField, "connection": connectionField}

// notListed are the headers that decide how a message is read, where it goes or who sends it. They may not come behind a body
// (RFC 9110, section 6.5.1), and those that are meant for the server may not be named by Connection, which has a proxy take them
// out (section 7.6.1). The value is whether Connection may name them.
var notListed = map[string]bool{"host": false, "content-length": false, "transfer-encoding": false, "content-type": false, "content-encoding": false, "content-range": false,
	"authorization": false, "cookie": false, "forwarded": false, "x-forwarded-for": false, "x-forwarded-host": false, "x-forwarded-proto": false, "x-api-key": false,
	"expect": true, "connection": true, "trailer": true, "te": true, "upgrade": true, "proxy-authorization": true, "proxy-connection": true, "keep-alive": true}

// beginField expects a header, or the empty line behind the last one.
func (s *strict) beginField(b []byte) int {
	switch b[0] {
	case ' ', '\t':
		return s.refuse("a header that is folded over two lines")
	case '\r':
		then := (*strict).begin
		if !s.inBody {
			if then = s.endHead(); s.refusal != "" {
				return 0
			}
		} else {
			s.sent = 0 // of the next head
		}
		s.line(then)
		return 1
	}
	s.n, s.dashless = 0, false
	s.at = (*strict).readName
	return s.at(s, b)
}

func (s *strict) readName(b []byte) (i int) {
	for ; i < len(b) && Class[b[i]]&InToken != 0; i++ {
		c := b[i]
		switch {
		case c == '_':
			c, s.dashless = '-', true
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		}
		s.add(c)
	}
	switch {
	case i == len(b):
	case b[i] != ':' || s.n == 0:
		s.refuse("a header's name that is not a token with a colon at once behind it")
	default:
		if s.nameField(); s.refusal == "" {
			s.at = (*strict).readValue
			i++
		}
	}
	return i
}

func (s *strict) nameField() {
	name := s.take()
	s.field = fieldNames[string(name)]
	if _, barred := notListed[string(name)]; barred && s.inBody {
		s.refuse("a header behind the body that belongs before it")
	}
	if s.dashless && (s.field == lengthField || s.field == codingField) {
		// A gateway that makes variables of headers takes the two for one.
		s.refuse("Content_Length or Transfer_Encoding")
	}
}

func (s *strict) readValue(b []byte) int {
	i := Plain(b)
	if s.field != otherField {
		for _, c := range b[:i] {
			s.add(c)
		}
	}
	switch {
	case i == len(b):
	case b[i] != '\r':
		s.refuse("a header with a control byte, or a line that ends without CR")
	default:
		if s.readField(); s.refusal == "" {
			s.line((*strict).beginField)
			i++
		}
	}
	return i
}

// readField reads a header that decides about the message.
func (s *strict) readField() {
	if s.field == otherField || s.inBody {
		return
	}
	long := s.n > maxWord
	value := strings.ToLower(string(bytes.Trim(s.take(), " \t")))
	s.fields[s.field]++
	switch {
	case long:
		s.refuse("a Host, Content-Length, Transfer-Encoding or Connection that is too long")
	case s.field == hostField:
		if s.host = value; !ValidHost(value) {
			s.refuse("a Host that is none")
		}
	case s.field == lengthField:
		var ok bool
		if s.length, ok = decimal(value); !ok {
			s.refuse("a Content-Length that is not one number")
		}
	case s.field == codingField:
		if s.chunked = value == "chunked"; value == "" {
			s.refuse("an empty Transfer-Encoding")
		}
		s.isLast = s.isLast || !s.chunked // net/http answers 501
	case s.field == connectionField:
		for option := range strings.SplitSeq(value, ",") {
			if may, barred := notListed[strings.Trim(option, " \t")]; barred && !may {
				s.refuse("a Connection that names a header which is meant for the server")
			}
		}
	}
}

// decimal is the number that digits make.
func decimal(text string) (n int64, ok bool) {
	for i := range len(text) {
		digit := int64(text[i]) - '0'
		if digit < 0 || digit > 9 || n > (math.MaxInt64-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, text != ""
}

// endHead checks a head as a whole, before net/http has its last line, and returns what comes behind it.
func (s *strict) endHead() func(*strict, []byte) int {
	hosts, lengths, codings := s.fields[hostField], s.fields[lengthField], s.fields[codingField]
	s.blanks = 0
	if s.method == "POST" {
		s.blanks = 2
	}
	switch {
	case s.method == "PRI":
		if s.fields != [fields]int{} {
			s.refuse("the preface of HTTP/2 with headers")
		}
		s.isLast = false
		return (*strict).readPreface
	case hosts > 1 || hosts == 0 && !s.old && !s.isLast:
		s.refuse("not one Host")
	case s.named != "" && hosts == 1 && s.named != s.host:
		s.refuse("a Host other than the one that the target names")
	case lengths > 1 || codings > 1:
		s.refuse("more than one Content-Length or Transfer-Encoding")
	case lengths > 0 && codings > 0:
		s.refuse("a Content-Length beside a Transfer-Encoding")
	case codings > 0 && s.old:
		s.refuse("a Transfer-Encoding in HTTP/1.0")
	case s.method == "CONNECT" && lengths+codings > 0:
		s.refuse("a CONNECT with a body")
	}
	s.preface = false
	switch {
	case s.isLast:
		return (*strict).begin
	case s.chunked:
		s.inBody, s.digits = true, 0
		return (*strict).readChunkSize
	case s.length > 0:
		s.inBody, s.left = true, s.length
		return (*strict).readBody
	}
	return (*strict).begin
}

// readPreface reads the rest of HTTP/2's preface (RFC 9113, section 3.4), behind which nothing is checked here.
func (s *strict) readPreface(b []byte) (i int) {
	const rest = "SM\r\n\r\n"
	for ; i < len(b) && s.n < len(rest); i++ {
		if b[i] != rest[s.n] {
			s.refuse("the preface of HTTP/2 is not whole")
			return i
		}
		s.n++
	}
	if s.n == len(rest) {
		s.at, s.http2 = (*strict).through, true
	}
	return i
}

// through is for the protocol that a connection has changed to.
func (s *strict) through(b []byte) int { return len(b) }
