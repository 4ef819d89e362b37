package typescript

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/sabir-go/sabir/codec/json"
)

// names gives out names that nothing else in the module has.
type names struct{ taken map[string]bool }

var word = regexp.MustCompile(`[A-Za-z_$][\w$]*`)

// reserved are the words that the module's fixed part need not have, but that mean something to TypeScript.
const reserved = `any as async await boolean break case catch class const continue debugger declare default delete do else enum
	export extends false finally for from function get if implements import in instanceof interface is keyof let module namespace
	never new null number object of package private protected public readonly require return set static string super switch symbol
	this throw true try type typeof undefined unique unknown var void while with yield bigint infer satisfies bind batchOf eventsOf createClient validators
	Array ArrayBuffer BigInt Boolean Date Error Function Iterable JSON Map Math Number Object Partial Pick Omit Promise Readonly Record
	RegExp Set String Symbol Uint8Array Api ApiOptions Batch Blob File Event Exclude Extract Required NonNullable Parameters ReturnType Awaited`

// newNames knows all the words of the module's fixed part, whether they name something in it or in the language.
func newNames() *names { return &names{taken: maps.Clone(fixedWords())} }

var fixedWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, text := range []string{runtime, rules, reserved} {
		for _, w := range word.FindAllString(text, -1) {
			words[w] = true
		}
	}
	return words
})

// unique gives a name for a type: the wanted one where it is free, and so are the functions "read…" and "check…" of it.
func (n *names) unique(wanted string) string {
	name := wanted
	if n.taken[name] {
		name = wanted + "Type"
	}
	for i := 2; n.taken[name] || n.taken["read"+name] || n.taken["check"+name] || n.taken["validate"+name]; i++ {
		name = wanted + strconv.Itoa(i)
	}
	n.taken[name] = true
	return name
}

// forAction gives the names for the types and for the functions of an action: all that is made of them is free.
func (n *names) forAction(wanted string) (pascal, camel string) {
	pascal = wanted
	for i := 1; ; i++ {
		camel = lowerFirst(pascal)
		made := []string{pascal + "Input", pascal + "Output", pascal + "Error", "validate" + pascal, camel, camel + "Action", camel + "All", camel + "From", camel + "Open"}
		if !slices.ContainsFunc(made, func(name string) bool { return n.taken[name] }) {
			for _, name := range made {
				n.taken[name] = true
			}
			return pascal, camel
		}
		if pascal = wanted + "Action"; i > 1 {
			pascal += strconv.Itoa(i)
		}
	}
}

// lowerFirst makes "usersGet" of "UsersGet", and "urlsGet" of "URLsGet".
func lowerFirst(name string) string {
	n := 1
	for n < len(name) && name[n] >= 'A' && name[n] <= 'Z' && (n+1 == len(name) || name[n+1] < 'a' || name[n+1] > 'z') {
		n++
	}
	return strings.ToLower(name[:n]) + name[n:]
}

// pascal makes an identifier of a name: "v2.users.get" is "V2UsersGet", "billing.User" is "BillingUser".
func pascal(name string) string {
	var b strings.Builder
	upper := true
	for _, r := range name {
		switch {
		case !identifierRune(r):
			upper = true
		case upper:
			b.WriteRune(unicode.ToUpper(r))
			upper = false
		default:
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 || b.String()[0] >= '0' && b.String()[0] <= '9' {
		return "T" + b.String()
	}
	return b.String()
}

func identifierRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '$'
}

var plainKey = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

// key is a member's name in an interface or an object.
func key(name string) string {
	switch {
	case name == "__proto__":
		return `["__proto__"]` // in an object, the plain word would set its prototype
	case plainKey.MatchString(name):
		return name
	}
	return quote(name)
}

// quote is a text as a TypeScript literal.
func quote(text string) string {
	quoted, err := json.Codec.Append(nil, text)
	if err != nil { // the text is not UTF-8, which Go strings may be
		return strconv.QuoteToASCII(strings.ToValidUTF8(text, "\uFFFD"))
	}
	return strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(quoted))
}
