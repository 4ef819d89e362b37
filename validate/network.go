package validate

import (
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sabir-go/sabir/internal/tag"
)

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

func isHostnamePort(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	n, err := strconv.ParseInt(port, 10, 32)
	return err == nil && n >= 1 && n <= 65535 && (host == "" || isHostname1123(host))
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
