package httpstrict

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
