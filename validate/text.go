package validate

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/tag"
)

// charClass is a set of ASCII characters.
type charClass [2]uint64

func newCharClass(chars string) charClass {
	var class charClass
	for _, c := range []byte(chars) {
		class[c>>6] |= 1 << (c & 63)
	}
	return class
}

func (class *charClass) has(c byte) bool { return c < 128 && class[c>>6]&(1<<(c&63)) != 0 }

// all reports whether s has at least one character and all are in the class.
func (class *charClass) all(s string) bool {
	for i := range len(s) {
		if !class.has(s[i]) {
			return false
		}
	}
	return s != ""
}

const (
	lowerLetters = "abcdefghijklmnopqrstuvwxyz"
	letters      = lowerLetters + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits       = "0123456789"
)

var (
	letterClass      = newCharClass(letters)
	digitClass       = newCharClass(digits)
	alnumClass       = newCharClass(letters + digits)
	letterSpaceClass = newCharClass(letters + " ")
	alnumSpaceClass  = newCharClass(letters + digits + " ")
	hexClass         = newCharClass(digits + "abcdefABCDEF")
	lowerHexClass    = newCharClass(digits + "abcdef")
	atomClass        = newCharClass(letters + digits + "_+-")
	hostClass        = newCharClass(letters + digits + "-")
	base64Class      = newCharClass(letters + digits + "+/")
	base64URLClass   = newCharClass(letters + digits + "-_")
	ulidClass        = newCharClass(digits + "abcdefghjkmnpqrstvwxyz")
)

// numeric is [-+]?[0-9]+(.[0-9]+)?
func numeric(s string) bool {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	whole, fraction, hasFraction := strings.Cut(s, ".")
	return digitClass.all(whole) && (!hasFraction || digitClass.all(fraction))
}

func boolean(s string) bool {
	if len(s) > len("false") {
		return false
	}
	_, err := strconv.ParseBool(s)
	return err == nil
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 128 {
			return false
		}
	}
	return true
}

func printASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func lowercase(s string) bool { return s != "" && s == strings.ToLower(s) }
func uppercase(s string) bool { return s != "" && s == strings.ToUpper(s) }

// uuid returns a check for the textual form of RFC 9562: version and variant are the characters allowed at the
// positions of these, "" for any.
func uuid(class *charClass, version, variant string) func(string) bool {
	return func(s string) bool {
		if len(s) != 36 {
			return false
		}
		for i := range len(s) {
			switch i {
			case 8, 13, 18, 23:
				if s[i] != '-' {
					return false
				}
			default:
				if !class.has(s[i]) {
					return false
				}
			}
		}
		return (version == "" || strings.IndexByte(version, s[14]) >= 0) &&
			(variant == "" || strings.IndexByte(variant, s[19]) >= 0)
	}
}

// oneOfInts keeps the words that are the usual decimal form of a number, because only these can be met.
func oneOfInts(param string) []int64 {
	var list []int64
	for _, word := range tag.Words(param) {
		if n, err := strconv.ParseInt(word, 10, 64); err == nil && strconv.FormatInt(n, 10) == word {
			list = append(list, n)
		}
	}
	return list
}

// oneOfUints is oneOfInts for unsigned numbers, given as int64 bits.
func oneOfUints(param string) []int64 {
	var list []int64
	for _, word := range tag.Words(param) {
		if n, err := strconv.ParseUint(word, 10, 64); err == nil && strconv.FormatUint(n, 10) == word {
			list = append(list, int64(n))
		}
	}
	return list
}

func oneOf[T comparable](list []T) func(T) bool {
	return func(value T) bool { return slices.Contains(list, value) }
}

// textRules are the rules on strings without a parameter.
var textRules = map[string]func(string) bool{
	"alpha":            letterClass.all,
	"alphanum":         alnumClass.all,
	"number":           digitClass.all,
	"numeric":          numeric,
	"boolean":          boolean,
	"ascii":            ascii,
	"printascii":       printASCII,
	"lowercase":        lowercase,
	"uppercase":        uppercase,
	"email":            email,
	"url":              isURL,
	"http_url":         webURL("http", "https"),
	"https_url":        webURL("https"),
	"uri":              isURI,
	"ip":               isIP,
	"ipv4":             isIPv4,
	"ipv6":             isIPv6,
	"cidr":             isCIDR,
	"cidrv4":           isCIDRv4,
	"cidrv6":           isCIDRv6,
	"mac":              isMAC,
	"hostname":         isHostname,
	"hostname_rfc1123": isHostname1123,
	"fqdn":             isFQDN,
	"hostname_port":    isHostnamePort,
	"hexadecimal":      hexadecimal,
	"hexcolor":         hexColor,
	"base64":           isBase64(&base64Class),
	"base64url":        isBase64(&base64URLClass),
	"base64rawurl":     isBase64RawURL,
	"json":             isJSON,
	"timezone":         isTimeZone,
	"duration":         isDuration,
	"e164":             isE164,
	"semver":           isSemver,
	"ulid":             isULID,
	"jwt":              isJWT,
	"latitude":         degrees(90),
	"longitude":        degrees(180),
	"alphaspace":       letterSpaceClass.all,
	"alphanumspace":    alnumSpaceClass.all,
	"alphaunicode":     alphaUnicode,
	"alphanumunicode":  alnumUnicode,
	"multibyte":        multibyte,
	"md5":              lowerHex(32),
	"sha256":           lowerHex(64),
	"sha384":           lowerHex(96),
	"sha512":           lowerHex(128),
	"uuid":             uuid(&hexClass, "", ""),
	"uuid3":            uuid(&lowerHexClass, "3", ""),
	"uuid4":            uuid(&lowerHexClass, "4", "89ab"),
	"uuid5":            uuid(&lowerHexClass, "5", "89ab"),
	"uuid7":            uuid(&lowerHexClass, "7", "89ab"),
	"uuid_rfc4122":     uuid(&hexClass, "", ""),
	"uuid3_rfc4122":    uuid(&hexClass, "3", ""),
	"uuid4_rfc4122":    uuid(&hexClass, "4", "89abAB"),
	"uuid5_rfc4122":    uuid(&hexClass, "5", "89abAB"),
}

// textParamRules are the rules on strings with a text as parameter.
var textParamRules = map[string]func(s, param string) bool{
	"contains":       strings.Contains,
	"excludes":       func(s, param string) bool { return !strings.Contains(s, param) },
	"startswith":     strings.HasPrefix,
	"endswith":       strings.HasSuffix,
	"startsnotwith":  func(s, param string) bool { return !strings.HasPrefix(s, param) },
	"endsnotwith":    func(s, param string) bool { return !strings.HasSuffix(s, param) },
	"containsany":    strings.ContainsAny,
	"excludesall":    func(s, param string) bool { return !strings.ContainsAny(s, param) },
	"containsrune":   containsRune,
	"excludesrune":   func(s, param string) bool { return !containsRune(s, param) },
	"eq_ignore_case": strings.EqualFold,
	"ne_ignore_case": func(s, param string) bool { return !strings.EqualFold(s, param) },
	"oneofci":        oneOfFold,
	"noneofci":       func(s, param string) bool { return !oneOfFold(s, param) },
	"datetime":       func(s, param string) bool { _, err := time.Parse(param, s); return err == nil },
	"eq":             func(s, param string) bool { return s == param },
	"ne":             func(s, param string) bool { return s != param },
}
