package bind

import (
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/layout"
	"github.com/sabir-go/sabir/internal/route"
)

// appendQuery writes the parameters of the query, and notes in seen which were there.
func (b *Binder) appendQuery(dst []byte, query string, seen bits, wrong *faults) []byte {
	if strings.Count(query, "&") >= MaxPairs {
		most := strconv.Itoa(MaxPairs)
		wrong.other(route.Query, "", RuleLimit, most, "has more than "+most+" parameters")
		for i := range b.query { // whether they are there is not known
			seen.add(i)
		}
		return dst
	}
	if b.open {
		return b.appendOpen(dst, query, wrong)
	}
	for query != "" {
		var pair string
		pair, query = cut(query, '&')
		if pair == "" {
			continue
		}
		raw, value := cut(pair, '=')
		i, name, ok := b.place(dst, raw)
		switch {
		case !ok:
			wrong.badName(raw)
		case i < 0 && b.refuse:
			wrong.other(route.Query, shown(name, maxName), RuleUnknown, "", "is not known here")
		case i < 0:
		case b.query[i].List:
			if !seen.has(i) {
				dst = b.appendRepeated(dst, i, value, query, wrong)
			}
			seen.add(i)
		case seen.has(i):
			wrong.field(&b.query[i], RuleOnce, "", "is given more than once", value)
		default:
			seen.add(i)
			f := &b.query[i]
			dst = f.append(append(dst, f.key...), value, true, wrong)
		}
	}
	return dst
}

// appendRepeated writes a list: the first value, and those of its name in the rest of the query.
func (b *Binder) appendRepeated(dst []byte, i int, first, rest string, wrong *faults) []byte {
	f := &b.query[i]
	dst = append(append(dst, f.key...), '[')
	dst = append(f.append(dst, first, true, wrong), ',')
	for rest != "" {
		var pair string
		pair, rest = cut(rest, '&')
		raw, value := cut(pair, '=')
		if at, _, ok := b.place(dst, raw); ok && at == i {
			dst = append(f.append(dst, value, true, wrong), ',')
		}
	}
	return closeList(dst)
}

// appendOpen writes each parameter under its own name, as text.
func (b *Binder) appendOpen(dst []byte, query string, wrong *faults) []byte {
	var keys [MaxPairs]span // what was written for the names; equal names are written alike
	n := 0
	text := field{Param: route.Param{In: route.Query, Kind: route.Text}}
	for query != "" {
		var pair string
		pair, query = cut(query, '&')
		if pair == "" {
			continue
		}
		raw, value := cut(pair, '=')
		var bad faults
		start := len(dst)
		dst = text.append(append(dst, ','), raw, true, &bad)
		key := span{start, len(dst)}
		switch {
		case bad.list != nil && bad.list[0].Rule == RuleEscape:
			wrong.badName(raw)
			continue
		case bad.list != nil:
			wrong.other(route.Query, decodedName(raw), RuleUTF8, "", "must have a name of valid UTF-8")
			continue
		}
		switch b.taken(dst, key, keys[:n]) {
		case route.Path:
			wrong.other(route.Query, decodedName(raw), RuleOnce, "", "comes from the path already")
			continue
		case route.Query:
			wrong.other(route.Query, decodedName(raw), RuleOnce, "", "is given more than once")
			continue
		}
		keys[n] = key
		n++
		dst = text.append(append(dst, ':'), value, true, &bad)
		if bad.list != nil {
			one := bad.list[0]
			one.Name = decodedName(raw)
			one.Path, one.Pointer = one.Name, "/"+layout.Escape(one.Name)
			wrong.add(one)
		}
	}
	return dst
}

// decodedName is a parameter's name for users.
func decodedName(raw string) string {
	decoded, _ := appendDecoded(nil, raw, true)
	return shown(string(decoded), maxName)
}

// span is a part of a buffer.
type span struct{ from, to int }

// taken returns where a name that stands in dst as a key was given already; "" for nowhere.
func (b *Binder) taken(dst []byte, key span, keys []span) route.Source {
	name := view(dst[key.from:key.to])
	for i := range b.path {
		if b.path[i].key[:len(b.path[i].key)-1] == name {
			return route.Path
		}
	}
	for _, other := range keys {
		if view(dst[other.from:other.to]) == name {
			return route.Query
		}
	}
	return ""
}

// place finds the parameter of a name as it stands in a query: -1 for none. What the name is decoded to lies in the capacity
// behind dst, where the next append overwrites it. It is false for a name that cannot be decoded.
func (b *Binder) place(dst []byte, raw string) (i int, name string, ok bool) {
	name = raw
	if hasEscape(raw) {
		decoded, ok := appendDecoded(dst[len(dst):], raw, true)
		if !ok {
			return -1, raw, false
		}
		name = view(decoded)
	}
	i = b.named(name)
	if list, brackets := strings.CutSuffix(name, "[]"); i < 0 && brackets { // as axios, jQuery and PHP write the parts of a list
		if i = b.named(list); i >= 0 && !b.query[i].List {
			i = -1
		}
	}
	return i, name, true
}

// named is the place of a parameter by its name; -1 for none.
func (b *Binder) named(name string) int {
	if b.places != nil {
		if i, known := b.places[name]; known {
			return i
		}
		return -1
	}
	for i := range b.query {
		if b.query[i].Name == name {
			return i
		}
	}
	return -1
}

func (f *faults) badName(raw string) {
	f.other(route.Query, shown(raw, maxName), RuleEscape, "", `has a "%" without two hexadecimal digits behind it in its name`)
}

// cut is strings.Cut for one byte, without reporting whether it was there.
func cut(s string, at byte) (before, after string) {
	if i := strings.IndexByte(s, at); i >= 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}
