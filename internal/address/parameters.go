// Package address reads the parts that addresses of all brokers share: the servers and the parameters.
//
// It is the only reader of those parts. Package internal/redis, internal/nats and internal/amqp read the address of their broker
// with it, once for every use: links, channels, states of grains and caches. So one address means the same in all of
// them and is refused by all of them with the same words. docs/addresses.md has the table.
//
//	parameters := address.Read(at)
//	prefix := parameters.Prefix(address.WithDots)
//	replicas := parameters.Number("replicas", "", 0, 1, 5)
//	if err := parameters.Err(); err != nil {
//		return fmt.Errorf("the address %q %w", at.Redacted(), err)
//	}
package address

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// DefaultPrefix begins the names of everything that is kept in a broker whose address has no prefix.
const DefaultPrefix = "sabir"

// maxPrefix is the number of bytes that a prefix may have.
const maxPrefix = 64

// Parameters are the part of an address behind its '?'. A parameter may be given once. The methods that read one return its
// default after a mistake, which Err then reports: a reader asks for all parameters and checks once.
type Parameters struct {
	values url.Values
	known  []string
	err    error // the first mistake
}

// Read takes the parameters of an address.
func Read(at *url.URL) *Parameters {
	values, err := url.ParseQuery(at.RawQuery)
	if err != nil {
		err = fmt.Errorf("has parameters that cannot be read: %w", err)
	}
	return &Parameters{values: values, err: err}
}

// Text is the parameter of the name, and whether there is one.
func (p *Parameters) Text(name string) (text string, given bool) {
	p.known = append(p.known, name)
	values, given := p.values[name]
	if len(values) > 1 {
		p.fail("has the parameter %s more than once", name)
	}
	delete(p.values, name)
	if !given {
		return "", false
	}
	return values[0], true
}

// Number is the parameter of the name, from least to most. It is also without where the text of the parameter is word, such
// as "auto"; no word is "".
func (p *Parameters) Number(name, word string, without, least, most int) int {
	text, given := p.Text(name)
	if !given || word != "" && text == word {
		return without
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || int(n) < least || int(n) > most {
		p.fail("has %s=%s: want a number from %d to %d", name, text, least, most)
		return without
	}
	return int(n)
}

// Bool is the parameter of the name, false where there is none.
func (p *Parameters) Bool(name string) bool {
	text, given := p.Text(name)
	if !given {
		return false
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		p.fail("has %s=%s: want true or false", name, text)
	}
	return value
}

// Whether a prefix may contain dots, which are not allowed in the names of JetStream's streams.
const (
	WithDots    = true
	WithoutDots = false
)

// Prefix is the parameter "prefix". No character that separates the parts of a name in a broker may be in it, so that two
// prefixes never share a name.
func (p *Parameters) Prefix(dots bool) string {
	prefix, given := p.Text("prefix")
	if !given {
		return DefaultPrefix
	}
	foreign := func(r rune) bool { return !isPlain(r) && !(dots && r == '.') }
	if prefix == "" || len(prefix) > maxPrefix || strings.ContainsFunc(prefix, foreign) {
		allowed := "'_' and '-'"
		if dots {
			allowed = "'.', '_' and '-'"
		}
		p.fail("has the prefix %q: want up to %d letters, digits, %s", prefix, maxPrefix, allowed)
		return DefaultPrefix
	}
	return prefix
}

// Err is the first mistake, or names a parameter that nothing has asked for.
func (p *Parameters) Err() error {
	for name := range p.values {
		slices.Sort(p.known)
		p.fail("has the unknown parameter %q: known are %s", name, strings.Join(p.known, ", "))
	}
	return p.err
}

func (p *Parameters) fail(format string, arguments ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, arguments...)
	}
}

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}
