package user

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"time"
	"unicode/utf8"
)

// Fields is a user whose strings lie in the text that it was read from.
type Fields struct {
	ID            int64
	Name, Surname []byte
	LastUpdate    time.Time
}

// errors of Read; they are made once, since the point of it is to be fast.
var (
	errSyntax = errors.New("not the JSON object of a user")
	errRules  = errors.New("the user breaks a rule")
)

const (
	hasName = 1 << iota
	hasSurname
	hasDate
	hasAll = hasName | hasSurname | hasDate
)

// Read reads and checks a user in one pass: the fields in any order, each at most once (the last of two counts), others are
// refused. Strings with escapes are left to encoding/json.
func (f *Fields) Read(text []byte) error {
	i := space(text, 0)
	if i >= len(text) || text[i] != '{' {
		return errSyntax
	}
	seen := 0
	for i = space(text, i+1); ; i = space(text, i+1) {
		name, next := quoted(text, i)
		if name == nil {
			return errSyntax
		}
		if i = space(text, next); i >= len(text) || text[i] != ':' {
			return errSyntax
		}
		i = space(text, i+1)
		switch string(name) {
		case "id":
			f.ID, i = digits(text, i)
			if i < 0 {
				return errRules
			}
		case "name":
			f.Name, i = quoted(text, i)
			seen |= hasName
		case "surname":
			f.Surname, i = quoted(text, i)
			seen |= hasSurname
		case "lastUpdate":
			var date []byte
			date, i = quoted(text, i)
			if date == nil || f.LastUpdate.UnmarshalText(date) != nil {
				return errRules
			}
			seen |= hasDate
		default:
			return errSyntax
		}
		if i < 0 {
			return errSyntax
		}
		i = space(text, i)
		if i >= len(text) {
			return errSyntax
		}
		if text[i] == ',' {
			continue
		}
		if text[i] != '}' || space(text, i+1) != len(text) {
			return errSyntax
		}
		if seen != hasAll || !goodName(f.Name) || !goodName(f.Surname) {
			return errRules
		}
		return nil
	}
}

func goodName(name []byte) bool {
	return len(name) > 0 && (len(name) <= MaxName || utf8.RuneCount(name) <= MaxName)
}

func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// quoted is the string at i and what comes after it; nil and -1 where there is none.
func quoted(text []byte, i int) ([]byte, int) {
	if i >= len(text) || text[i] != '"' {
		return nil, -1
	}
	plain := true
	for j := i + 1; j < len(text); j++ {
		switch c := text[j]; {
		case c == '"' && plain:
			return text[i+1 : j : j], j + 1
		case c == '"':
			var s string
			if json.Unmarshal(text[i:j+1], &s) != nil {
				return nil, -1
			}
			return append([]byte{}, s...), j + 1
		case c == '\\':
			plain = false
			j++
		case c < ' ':
			return nil, -1
		case c >= utf8.RuneSelf:
			_, size := utf8.DecodeRune(text[j:])
			if size == 1 {
				return nil, -1
			}
			j += size - 1
		}
	}
	return nil, -1
}

// digits is the whole number at i and what comes after it; -1 where there is none that is positive and fits.
func digits(text []byte, i int) (int64, int) {
	start, n := i, int64(0)
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		n = n*10 + int64(text[i]-'0')
	}
	if i == start || i-start > 18 || text[start] == '0' && i-start > 1 {
		return 0, -1
	}
	return n, i
}

// AppendUpdated appends the user as JSON with its date moved on.
func (f *Fields) AppendUpdated(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = strconv.AppendInt(dst, f.ID, 10)
	dst = append(dst, `,"name":`...)
	dst = appendString(dst, f.Name)
	dst = append(dst, `,"surname":`...)
	dst = appendString(dst, f.Surname)
	dst = append(dst, `,"lastUpdate":"`...)
	dst = f.LastUpdate.Add(Later).AppendFormat(dst, time.RFC3339Nano)
	return append(dst, `"}`...)
}

func appendString(dst, s []byte) []byte {
	for _, c := range s {
		if c < ' ' || c == '"' || c == '\\' {
			text, _ := json.Marshal(string(s)) // a string has a JSON form
			return append(dst, bytes.TrimSpace(text)...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
