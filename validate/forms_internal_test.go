package validate

import (
	"math/rand/v2"
	"net/mail"
	"regexp"
	"strings"
	"testing"
)

// The patterns are the library's, with which the rules agree.
const (
	hostnamePattern     = `^[a-zA-Z]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`
	hostname1123Pattern = `^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`
	fqdnPattern         = `^([a-zA-Z0-9]{1}[a-zA-Z0-9-]{0,62})(\.[a-zA-Z0-9]{1}[a-zA-Z0-9-]{0,62})*?(\.[a-zA-Z]{1}[a-zA-Z0-9-]{0,62})\.?$`
	base64Pattern       = `^(?:[A-Za-z0-9+\/]{4})*(?:[A-Za-z0-9+\/]{2}==|[A-Za-z0-9+\/]{3}=|[A-Za-z0-9+\/]{4})$`
	base64URLPattern    = `^(?:[A-Za-z0-9-_]{4})*(?:[A-Za-z0-9-_]{2}==|[A-Za-z0-9-_]{3}=|[A-Za-z0-9-_]{4})$`
	base64RawURLPattern = `^(?:[A-Za-z0-9-_]{4})*(?:[A-Za-z0-9-_]{2,4})$`
	e164Pattern         = `^\+?[1-9]\d{7,14}$`
	semverPattern       = `^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`
	ulidPattern         = `^(?i)[0-7][A-HJKMNP-TV-Z0-9]{25}$`
	jwtPattern          = `^[A-Za-z0-9-_]+\.[A-Za-z0-9-_]+\.[A-Za-z0-9-_]*$`
	latitudePattern     = `^[-+]?([1-8]?\d(\.\d+)?|90(\.0+)?)$`
	longitudePattern    = `^[-+]?(180(\.0+)?|((1[0-7]\d)|([1-9]?\d))(\.\d+)?)$`
)

// wide lists the characters beyond ASCII that count as letters in the pattern of addresses.
const wide = `\x{00A0}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFEF}`

// emailPattern is the library's, put together from its parts: RFC 5322 without comments.
const emailPattern = `^(?:(?:(?:(?:[a-zA-Z]|\d|[!#\$%&'\*\+\-\/=\?\^_` + "`" + `{\|}~]|[` + wide +
	`])+(?:\.([a-zA-Z]|\d|[!#\$%&'\*\+\-\/=\?\^_` + "`" + `{\|}~]|[` + wide +
	`])+)*)|(?:(?:\x22)(?:(?:(?:(?:\x20|\x09)*(?:\x0d\x0a))?(?:\x20|\x09)+)?(?:(?:[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]|\x21|[\x23-\x5b]|[\x5d-\x7e]|[` + wide +
	`])|(?:(?:[\x01-\x09\x0b\x0c\x0d-\x7f]|[` + wide +
	`]))))*(?:(?:(?:\x20|\x09)*(?:\x0d\x0a))?(\x20|\x09)+)?(?:\x22))))@(?:(?:(?:[a-zA-Z]|\d|[` + wide +
	`])|(?:(?:[a-zA-Z]|\d|[` + wide +
	`])(?:[a-zA-Z]|\d|-|\.|~|[` + wide +
	`])*(?:[a-zA-Z]|\d|[` + wide +
	`])))\.)+(?:(?:[a-zA-Z]|[` + wide +
	`])|(?:(?:[a-zA-Z]|[` + wide +
	`])(?:[a-zA-Z]|\d|-|\.|~|[` + wide +
	`])*(?:[a-zA-Z]|[` + wide +
	`])))\.?$`

type form struct {
	rule    string
	is      func(string) bool
	pattern *regexp.Regexp
	pieces  []string // of which texts are made that are near the form
}

func forms() []form {
	host := []string{"a", "Z", "9", "-", ".", "..", strings.Repeat("b", 62), "_", "é", "\n"}
	base64 := []string{"A", "z9", "+/", "-_", "=", "==", "AAAA", "\n", "é"}
	version := []string{"0", "1", "10", "01", ".", "-", "+", "a", "-rc", "1.2.3", "é"}
	angle := []string{"+", "-", "0", "1", "5", "9", "90", "180", "179", ".", ".0", ".00", "x", "é"}
	return []form{
		{"hostname", isHostname, regexp.MustCompile(hostnamePattern), host},
		{"hostname_rfc1123", isHostname1123, regexp.MustCompile(hostname1123Pattern), host},
		{"fqdn", isFQDN, regexp.MustCompile(fqdnPattern), host},
		{"base64", isBase64(&base64Class), regexp.MustCompile(base64Pattern), base64},
		{"base64url", isBase64(&base64URLClass), regexp.MustCompile(base64URLPattern), base64},
		{"base64rawurl", isBase64RawURL, regexp.MustCompile(base64RawURLPattern), base64},
		{"e164", isE164, regexp.MustCompile(e164Pattern), []string{"+", "0", "1", "9", "1234567", "x", " "}},
		{"semver", isSemver, regexp.MustCompile(semverPattern), version},
		{"ulid", isULID, regexp.MustCompile(ulidPattern), []string{"0", "7", "8", "01ARZ3NDEKTSV4RRFFQ69G5FA", "arz3ndek", "K", "\u212a", "\u017f", "\u0131", "\u0130", "I", "\xff"}},
		{"jwt", isJWT, regexp.MustCompile(jwtPattern), []string{"a", "Z9", "-_", ".", "..", "=", "é"}},
		{"latitude", degrees(90), regexp.MustCompile(latitudePattern), angle},
		{"longitude", degrees(180), regexp.MustCompile(longitudePattern), angle},
		{"email", email, regexp.MustCompile(emailPattern), []string{"a", "ada", "9", ".", "@", "@b.de", "\"", "\"a b\"", "\\", " ", "\t", "\x7f", "\x01", "\n", "\r\n ", "<", ">", "~", "-", "!", "é", "\u00a0", "\u2028", "\xff", "(x)", ",", "_", "%", "7"}},
	}
}

// agrees holds a rule to its pattern, but for what another rule of its own refuses.
func (f form) agrees(t *testing.T, s string) {
	t.Helper()
	want := f.pattern.MatchString(s)
	switch f.rule {
	case "fqdn":
		want = want && len(strings.TrimSuffix(s, ".")) <= 253
	case "email":
		_, err := mail.ParseAddress(s)
		want = want && err == nil
	}
	if got := f.is(s); got != want {
		t.Errorf("%s of %q: %v, want %v", f.rule, s, got, want)
	}
}

func TestRulesOnFormsTakeWhatTheirPatternsDo(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.rule, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			taken := 0
			for range 20_000 {
				var s strings.Builder
				for range random.IntN(9) {
					s.WriteString(f.pieces[random.IntN(len(f.pieces))])
				}
				f.agrees(t, s.String())
				if f.is(s.String()) {
					taken++
				}
			}
			if taken == 0 {
				t.Error("no text had the form")
			}
		})
	}
}

func FuzzFormsOfRules(f *testing.F) {
	all := forms()
	for _, s := range []string{"ada@example.org", `"ada l"@example.org`, "a.b-c.de.", "1.2.3-rc.1+x", "-89.5", "+4930123456", "QUJD", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "a.b.c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, one := range all {
			one.agrees(t, s)
		}
	})
}
