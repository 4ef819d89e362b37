package validate

import (
	"encoding/json"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sabir-go/sabir/internal/tag"
)

// The patterns are the library's, so that both accept the same texts.
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

// matches returns a check by a pattern, which is compiled at its first use. It is not inlined, since that takes three functions of every program for each
// pattern.
//
//go:noinline
func matches(pattern string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(s string) bool { return compiled().MatchString(s) }
}

var (
	emailMatches = matches(emailPattern)
	fqdnMatches  = matches(fqdnPattern)
	hostMatches  = matches(hostname1123Pattern)
)

func email(s string) bool {
	if plainEmail(s) {
		return true
	}
	_, err := mail.ParseAddress(s)
	return err == nil && emailMatches(s)
}

func isURL(s string) bool {
	u, err := url.Parse(strings.ToLower(s))
	switch {
	case s == "" || err != nil || u.Scheme == "":
		return false
	case u.Scheme == "file":
		return u.Path != "" && u.Path != "/"
	}
	return u.Host != "" || u.Fragment != "" || u.Opaque != ""
}

func webURL(schemes ...string) func(string) bool {
	return func(s string) bool {
		u, err := url.Parse(strings.ToLower(s))
		return isURL(s) && err == nil && u.Host != "" && slices.Contains(schemes, u.Scheme)
	}
}

func isURI(s string) bool {
	s, _, _ = strings.Cut(s, "#")
	_, err := url.ParseRequestURI(s)
	return s != "" && err == nil
}

func isIP(s string) bool { return net.ParseIP(s) != nil }

func isIPv4(s string) bool { return net.ParseIP(s).To4() != nil }

func isIPv6(s string) bool { return isIP(s) && !isIPv4(s) }

func isCIDR(s string) bool {
	_, _, err := net.ParseCIDR(s)
	return err == nil
}

// isCIDRv4 wants the address of the network, without bits beyond its length.
func isCIDRv4(s string) bool {
	ip, network, err := net.ParseCIDR(s)
	return err == nil && ip.To4() != nil && network.IP.Equal(ip)
}

func isCIDRv6(s string) bool {
	ip, _, err := net.ParseCIDR(s)
	return err == nil && ip.To4() == nil
}

func isMAC(s string) bool {
	_, err := net.ParseMAC(s)
	return err == nil
}

func isFQDN(s string) bool { return len(strings.TrimSuffix(s, ".")) <= 253 && fqdnMatches(s) }

func isHostnamePort(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	n, err := strconv.ParseInt(port, 10, 32)
	return err == nil && n >= 1 && n <= 65535 && (host == "" || hostMatches(host))
}

func hexadecimal(s string) bool {
	if len(s) > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		s = s[2:]
	}
	return hexClass.all(s)
}

func hexColor(s string) bool {
	digits, found := strings.CutPrefix(s, "#")
	switch len(digits) {
	case 3, 4, 6, 8:
		return found && hexClass.all(digits)
	}
	return false
}

func lowerHex(length int) func(string) bool {
	return func(s string) bool { return len(s) == length && lowerHexClass.all(s) }
}

func isJSON(s string) bool { return json.Valid([]byte(s)) }

// isTimeZone refuses the two names that mean other zones on other machines.
func isTimeZone(s string) bool {
	if s == "" || strings.EqualFold(s, "local") {
		return false
	}
	_, err := time.LoadLocation(s)
	return err == nil
}

func isDuration(s string) bool {
	_, err := time.ParseDuration(s)
	return err == nil
}

func alphaUnicode(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
}

func alnumUnicode(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

func multibyte(s string) bool { return s == "" || !ascii(s) }

func containsRune(s, param string) bool {
	r, _ := utf8.DecodeRuneInString(param)
	return strings.ContainsRune(s, r)
}

func oneOfFold(s, param string) bool {
	return slices.ContainsFunc(tag.Words(param), func(word string) bool { return strings.EqualFold(word, s) })
}
