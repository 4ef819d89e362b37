package httpstrict

import (
	"bytes"
	"strings"
)

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
