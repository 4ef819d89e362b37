package httpstrict

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
