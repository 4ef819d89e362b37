package httpstrict

import (
	"bytes"
	"math"
	"strings"
)

// strict checks what a client sends on an HTTP/1 connection while net/http reads it. net/http takes forms that RFC 9112 lets a
// server refuse, and that a proxy in front may read as another request: this refuses them, and passes on the same bytes
// otherwise. It follows the connection request by request, and keeps of each only what is needed to know where it ends.
type strict struct {
	at       func(*strict, []byte) int // takes bytes, one at least, and returns how many it took; fewer together with a refusal
	afterLF  func(*strict, []byte) int // what at becomes behind the LF that is due
	refusal  string                    // why nothing more is passed on; "" for nothing
	sent     int                       // bytes of the present head that were passed on, for refuse
	preface  bool                      // the connection may begin with HTTP/2's preface
	http2    bool                      // it has
	blanks   int                       // empty lines that may come before the next request
	isLast   bool                      // net/http refuses this request by itself: nothing comes behind it
	old      bool                      // HTTP/1.0
	inBody   bool
	hex      int         // hexadecimal digits that are due behind a "%"
	method   string      // "CONNECT", "OPTIONS", "POST", "PRI"; "" for the others
	named    string      // the authority that the target names, in lower case; "" for none
	host     string      // in lower case
	fields   [fields]int // how often each came
	field    field
	length   int64 // of the body
	chunked  bool
	left     int64 // bytes of the body or of the chunk that are still to come
	digits   int   // of the chunk's size so far
	word     [maxWord]byte
	n        int  // bytes of word; maxWord + 1 where it was longer
	dashless bool // word had "_", which is kept as "-"
}

// maxWord bounds, in bytes, what is kept of a head's parts: the longest is a host or a chunk's extensions.
const maxWord = 300

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

// newStrict makes one for a connection of which net/http reads the first byte next.
func newStrict(mayBeHTTP2 bool) strict { return strict{at: (*strict).begin, preface: mayBeHTTP2} }

// pass checks bytes and returns how many of them net/http may have; fewer than all where the rest is refused.
func (s *strict) pass(b []byte) (n int) {
	for n < len(b) && s.refusal == "" {
		took := s.at(s, b[n:])
		n += took
		s.sent += took
	}
	return n
}

// unread counts the bytes that net/http has to read before it finds that a request was refused: it answers errors of a head that has
// begun, which takes four bytes.
func (s *strict) unread() int {
	if s.inBody {
		return 0
	}
	return max(4-s.sent, 0)
}

func (s *strict) refuse(why string) int {
	s.refusal = why
	return 0
}

// lf expects an LF behind the CR.
func (s *strict) lf(b []byte) int {
	if b[0] != '\n' {
		return s.refuse("a CR without LF")
	}
	s.at = s.afterLF
	return 1
}

func (s *strict) line(then func(*strict, []byte) int) { s.at, s.afterLF = (*strict).lf, then }

// add keeps a byte of a word.
func (s *strict) add(c byte) {
	if s.n < maxWord {
		s.word[s.n] = c
	}
	s.n = min(s.n+1, maxWord+1)
}

// take is the word that was kept; "" where it was too long.
func (s *strict) take() []byte {
	n := s.n
	s.n = 0
	if n > maxWord {
		return nil
	}
	return s.word[:n]
}

// begin expects a request.
func (s *strict) begin(b []byte) int {
	if s.isLast {
		return s.refuse("a request behind one that was refused")
	}
	s.sent, s.inBody = 0, false
	if b[0] == '\r' && s.blanks > 0 { // RFC 9112, section 2.2; net/http passes over them too
		s.blanks--
		s.line((*strict).begin)
		return 1
	}
	blanks, preface := s.blanks, s.preface
	*s = strict{at: (*strict).readMethod, blanks: blanks, preface: preface}
	return s.at(s, b)
}

func (s *strict) readMethod(b []byte) (i int) {
	for ; i < len(b) && Class[b[i]]&InToken != 0; i++ {
		s.add(b[i])
	}
	switch {
	case i == len(b):
	case b[i] != ' ' || s.n == 0:
		s.refuse("the method is not a token with one space behind it")
	default:
		switch name := string(s.take()); name {
		case "CONNECT", "OPTIONS", "POST", "PRI":
			s.method = name
		}
		s.at = (*strict).readTarget
		i++
	}
	return i
}

// readTarget reads the beginning of one of the four forms (RFC 9112, section 3.2).
func (s *strict) readTarget(b []byte) int {
	switch {
	case s.method == "PRI" && b[0] != '*':
		return s.refuse("the method PRI is for HTTP/2")
	case s.method == "CONNECT" || b[0] != '/' && b[0] != '*':
		s.at = (*strict).readAuthority
		return s.at(s, b)
	case b[0] == '*' && s.method != "OPTIONS" && s.method != "PRI":
		return s.refuse("only OPTIONS may ask for *")
	case b[0] == '*':
		s.at = (*strict).endTarget
	default:
		s.at = (*strict).readPath
	}
	return 1
}

func (s *strict) endTarget(b []byte) int {
	if b[0] != ' ' {
		return s.refuse("the target has a byte that none may have")
	}
	s.at = (*strict).readVersion
	return 1
}

// readAuthority reads "host:port" for CONNECT, and "http://host:port" for the others.
func (s *strict) readAuthority(b []byte) (i int) {
	for ; i < len(b); i++ {
		c := b[i]
		slashes := bytes.Count(s.word[:min(s.n, maxWord)], []byte("/"))
		if c == ' ' || s.method != "CONNECT" && slashes == 2 && (c == '/' || c == '?') {
			break
		}
		if Class[c]&InHost == 0 && (c != '/' || slashes == 2) || s.n == maxWord {
			s.refuse("the target is no path, and no address of this server")
			return i
		}
		s.add(c)
	}
	if i == len(b) {
		return i
	}
	s.named = strings.ToLower(string(s.take()))
	if s.method != "CONNECT" {
		scheme, rest, _ := strings.Cut(s.named, "://")
		if scheme != "http" && scheme != "https" {
			rest = ""
		}
		s.named = rest
	}
	if !ValidHost(s.named) {
		s.refuse("the target is no path, and no address of this server")
		return i
	}
	switch b[i] {
	case '/':
		s.at = (*strict).readPath
	case '?':
		s.at = (*strict).readQuery
	default:
		s.at = (*strict).readVersion
	}
	return i + 1
}

// readPath takes what RFC 3986 has, and "[", "]" and "|", which browsers send as they are.
func (s *strict) readPath(b []byte) (i int) {
	for ; i < len(b); i++ {
		c := b[i]
		switch {
		case s.hex > 0 && Class[c]&InHex != 0:
			s.hex--
		case s.hex == 0 && c == '%':
			s.hex = 2
		case s.hex == 0 && c == '?':
			s.at = (*strict).readQuery
			return i + 1
		case s.hex == 0 && c == ' ':
			s.at = (*strict).readVersion
			return i + 1
		case s.hex == 0 && (Class[c]&InPath != 0 || c == '[' || c == ']' || c == '|'):
		default:
			s.refuse("the path has a byte that none may have, or a % without two hexadecimal digits")
			return i
		}
	}
	return i
}

func (s *strict) readQuery(b []byte) (i int) {
	for ; i < len(b) && Class[b[i]]&InQuery != 0; i++ {
	}
	if i == len(b) {
		return i
	}
	return i + s.endTarget(b[i:])
}

func (s *strict) readVersion(b []byte) (i int) {
	for ; i < len(b) && b[i] > ' ' && s.n <= len("HTTP/1.1"); i++ {
		s.add(b[i])
	}
	if i == len(b) {
		return i
	}
	v := string(s.take())
	const shape = "HTTP/"
	isVersion := len(v) == len("HTTP/1.1") && v[:len(shape)] == shape && v[5] >= '0' && v[5] <= '9' && v[6] == '.' && v[7] >= '0' && v[7] <= '9'
	switch {
	case !isVersion || b[i] != '\r', v[5] == '1' && v[7] > '1':
		s.refuse("the request line does not end with HTTP/1.1 or HTTP/1.0 and CR LF")
		return i
	case v[5] != '1':
		s.isLast = true // net/http answers 505, except to HTTP/2's preface
	}
	s.old = v == "HTTP/1.0"
	if s.method == "PRI" && !(s.preface && v == "HTTP/2.0") {
		s.refuse("the method PRI is for HTTP/2")
		return i
	}
	s.line((*strict).beginField)
	return i + 1
}

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

func (s *strict) readBody(b []byte) int {
	n := min(s.left, int64(len(b)))
	if s.left -= n; s.left == 0 {
		s.at = (*strict).begin
	}
	return int(n)
}

// readChunkSize reads the size of a chunk (RFC 9112, section 7.1), up to 15 digits.
func (s *strict) readChunkSize(b []byte) (i int) {
	for ; i < len(b) && Class[b[i]]&InHex != 0 && s.digits < 15; i++ {
		if s.digits == 0 {
			s.left = 0
		}
		s.digits++
		s.left = s.left<<4 | int64(fromHex(b[i]))
	}
	switch {
	case i == len(b):
	case s.digits == 0 || b[i] != '\r' && b[i] != ';':
		s.refuse("a chunk's size that is no hexadecimal number with CR LF behind it")
	case b[i] == ';':
		s.n, s.at = 0, (*strict).readChunkExtensions
	default:
		s.endChunkSize()
		i++
	}
	return i
}

func (s *strict) endChunkSize() {
	s.digits = 0
	if s.left > 0 {
		s.line((*strict).readChunk)
	} else {
		s.line((*strict).beginField) // trailers
	}
}

func (s *strict) readChunkExtensions(b []byte) int {
	i := Plain(b)
	for _, c := range b[:i] {
		s.add(c)
	}
	switch {
	case s.n > maxWord:
		s.refuse("the extensions of a chunk are too long")
	case i == len(b):
	case b[i] != '\r' || !validExtensions(s.take()):
		s.refuse("the extensions of a chunk are malformed")
	default:
		s.endChunkSize()
		i++
	}
	return i
}

func (s *strict) readChunk(b []byte) int {
	n := min(s.left, int64(len(b)))
	if s.left -= n; s.left == 0 {
		s.at = (*strict).endChunk
	}
	return int(n)
}

func (s *strict) endChunk(b []byte) int {
	if b[0] != '\r' {
		return s.refuse("a chunk that is longer than its size")
	}
	s.line((*strict).readChunkSize)
	return 1
}

// validExtensions reports whether b is ";" and a name, "=" and a token or a quoted text, as often as it likes (RFC 9112,
// section 7.1.1). Space around "=" and ";", which that section has for old senders, is refused: it would be read in two ways.
func validExtensions(b []byte) bool {
	word := func() (n int) {
		for ; n < len(b) && Class[b[n]]&InToken != 0; n++ {
		}
		b = b[n:]
		return n
	}
	for len(b) > 0 {
		if b[0] != ';' {
			return false
		}
		if b = b[1:]; word() == 0 {
			return false
		}
		if len(b) == 0 || b[0] != '=' {
			continue
		}
		b = b[1:]
		if len(b) > 0 && b[0] == '"' {
			end := quoted(b)
			b = b[end:]
			if end == 0 {
				return false
			}
		} else if word() == 0 {
			return false
		}
	}
	return true
}

// quoted is the length of the quoted text that b begins with; 0 where it does not end.
func quoted(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

func fromHex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	}
	return c - 'A' + 10
}
