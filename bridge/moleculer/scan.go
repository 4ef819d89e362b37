package moleculer

import (
	"strings"
	"unsafe"
)

// members reads a packet as Moleculer's JSON.stringify writes it: an object without white space, of known members, whose texts are plain. Anything else
// makes it fail, and is read by the codec then, which also says what is wrong with it. What it returns are parts of the packet. Of a part that has an inner
// form, only the brackets and texts are looked at: whoever reads the part checks it.
type members struct {
	data   []byte
	at     int
	seen   uint
	failed bool
}

// next goes to the next member and returns its name. It is false behind the last one.
func (m *members) next() (name string, more bool) {
	switch {
	case m.failed:
		return "", false
	case m.seen == 0 && m.take('{'), m.seen != 0 && m.take(','):
		name = m.plain()
		m.failed = m.failed || !m.take(':')
		return name, !m.failed
	}
	m.failed = !m.take('}') || m.at != len(m.data)
	return "", false
}

// once notes that the member with this number was there. A second one is for the codec, which refuses it.
func (m *members) once(number int) {
	m.failed = m.failed || m.seen&(1<<number) != 0
	m.seen |= 1 << number
}

func (m *members) take(c byte) bool {
	if m.at >= len(m.data) || m.data[m.at] != c {
		return false
	}
	m.at++
	return true
}

func (m *members) word(word string) bool {
	if len(m.data)-m.at < len(word) || string(m.data[m.at:m.at+len(word)]) != word {
		return false
	}
	m.at += len(word)
	return true
}

// plain reads a text of ASCII without escapes.
func (m *members) plain() string {
	if !m.take('"') {
		m.failed = true
		return ""
	}
	for i, c := range m.data[m.at:] {
		switch {
		case c == '"':
			text := unsafe.String(unsafe.SliceData(m.data[m.at:]), i)
			m.at += i + 1
			return text
		case c < ' ', c == '\\', c >= 0x80:
			m.failed = true
			return ""
		}
	}
	m.failed = true
	return ""
}

// plainPart is plain, as it stands in the packet.
func (m *members) plainPart() raw {
	from := m.at
	m.plain()
	return raw(m.data[from:m.at:m.at])
}

// text is plain, and "" for null.
func (m *members) text() string {
	if m.word("null") {
		return ""
	}
	return m.plain()
}

func (m *members) boolean() bool {
	if m.word("true") {
		return true
	}
	m.failed = m.failed || !m.word("false")
	return false
}

// number reads a small number without a sign and a fraction.
func (m *members) number() (n int) {
	from := m.at
	for m.at < len(m.data) && m.data[m.at] >= '0' && m.data[m.at] <= '9' && m.at-from < 10 {
		n = n*10 + int(m.data[m.at]-'0')
		m.at++
	}
	if digits := m.at - from; digits == 0 || digits > 9 || digits > 1 && m.data[from] == '0' {
		m.failed = true
	}
	return n
}

// simple reads an empty object, a boolean or null.
func (m *members) simple() raw {
	from := m.at
	m.failed = m.failed || !m.word("{}") && !m.word("null") && !m.word("true") && !m.word("false")
	return raw(m.data[from:m.at:m.at])
}

// part reads any value.
func (m *members) part() raw {
	from, depth := m.at, 0
	for m.at < len(m.data) {
		switch m.data[m.at] {
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 {
				m.failed = m.failed || m.at == from || m.data[from] <= ' ' || m.data[m.at-1] <= ' '
				return raw(m.data[from:m.at:m.at])
			}
			if m.data[m.at] != ',' {
				depth--
			}
		case '"':
			m.passText()
			continue
		}
		m.at++
	}
	m.failed = true
	return nil
}

// passText passes over a text.
func (m *members) passText() {
	for m.at++; m.at < len(m.data); m.at++ {
		switch m.data[m.at] {
		case '\\':
			m.at++
		case '"':
			m.at++
			return
		}
	}
}

// scanner is a packet that can be read without the codec. What it refers to then are parts of data. After false the packet is as it was.
type scanner interface {
	scan(data []byte) bool
}

func (r *request) scan(data []byte) bool {
	m := members{data: data}
	s := request{}
	for name, more := m.next(); more; name, more = m.next() {
		switch name {
		case "id":
			m.once(0)
			s.ID = m.plainPart()
		case "action":
			m.once(1)
			s.Action = m.text()
		case "params":
			m.once(2)
			s.Params = m.part()
		case "meta":
			m.once(3)
			s.Meta = m.part()
		case "headers":
			m.once(4)
			s.Headers = m.simple()
		case "timeout":
			m.once(5)
			if !m.word("null") {
				s.Timeout = milliseconds(min(m.number(), maxTimeout))
			}
		case "level":
			m.once(6)
			s.Level = m.number()
		case "tracing":
			m.once(7)
			s.Tracing = m.simple()
		case "parentID":
			m.once(8)
			s.ParentID = loose(m.text())
		case "requestID":
			m.once(9)
			s.RequestID = loose(m.text())
		case "caller":
			m.once(10)
			s.Caller = loose(strings.Clone(m.text())) // the node remembers callers
		case "stream":
			m.once(11)
			s.Stream = truth(m.boolean())
		case "ver":
			m.once(12)
			s.Version = m.text()
		case "sender":
			m.once(13)
			s.Sender = strings.Clone(m.text()) // and senders
		default:
			return false
		}
	}
	if m.failed || bool(s.Stream) {
		return false
	}
	*r = s
	return true
}

func (r *response) scan(data []byte) bool {
	m := members{data: data}
	s := response{}
	for name, more := m.next(); more; name, more = m.next() {
		switch name {
		case "id":
			m.once(0)
			s.ID = m.text()
		case "meta":
			m.once(1)
			s.Meta = m.part()
		case "headers":
			m.once(2)
			s.Headers = m.simple()
		case "success":
			m.once(3)
			s.Success = m.boolean()
		case "data":
			m.once(4)
			s.Data = m.part()
		case "stream":
			m.once(5)
			s.Stream = truth(m.boolean())
		case "ver":
			m.once(6)
			s.Version = m.text()
		case "sender":
			m.once(7)
			s.Sender = m.text()
		default:
			return false
		}
	}
	if m.failed || bool(s.Stream) {
		return false
	}
	*r = s
	return true
}
