package validate

import "strings"

// email accepts what the library does, which asks net/mail and a pattern: addresses of RFC 5322 without comments, with letters of all scripts.
func email(s string) bool {
	if plainEmail(s) {
		return true
	}
	at := strings.LastIndexByte(s, '@')
	return at > 0 && isLocalPart(s[:at]) && isMailHost(s[at+1:])
}

// plainEmail accepts the plain addresses that make up nearly all: a dotted local part of letters, digits, "_", "+"
// and "-", and a host name that ends in letters. It refuses many valid ones, which email then decides.
func plainEmail(s string) bool {
	if len(s) > 254 {
		return false
	}
	local, host, ok := strings.Cut(s, "@")
	if !ok || len(local) > 64 || !dotted(local, &atomClass) || !dotted(host, &hostClass) {
		return false
	}
	last := strings.LastIndexByte(host, '.')
	if last < 0 || !letterClass.all(host[last+1:]) {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// dotted reports whether s is made of characters of the class, in parts that are joined by single dots.
func dotted(s string, class *charClass) bool {
	between := true // at a place where no dot may be
	for i := range len(s) {
		switch {
		case class.has(s[i]):
			between = false
		case s[i] == '.' && !between:
			between = true
		default:
			return false
		}
	}
	return !between
}

func isLocalPart(s string) bool {
	if quoted, isQuoted := strings.CutPrefix(s, `"`); isQuoted {
		quoted, isQuoted = strings.CutSuffix(quoted, `"`)
		return isQuoted && quoted != "" && isQuotedText(quoted)
	}
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool { return !isWordCharacter(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r) }) {
			return false
		}
	}
	return true
}

// isQuotedText wants a backslash before each quote and backslash.
func isQuotedText(s string) bool {
	escaped := false
	for _, r := range s {
		if r != '\t' && (r < ' ' || r > '~') && !isWide(r) || r == '"' && !escaped {
			return false
		}
		escaped = r == '\\' && !escaped
	}
	return !escaped
}

// isMailHost wants a dot between two words of which the second begins with a letter, as the host ends.
func isMailHost(s string) bool {
	first, last, before := rune(0), rune(0), rune(0)
	words := false
	for _, r := range s {
		if !isWordCharacter(r) && !strings.ContainsRune("-.~", r) || r == '.' && last == '.' {
			return false
		}
		if first == 0 {
			first = r
		}
		if last == '.' && isWordCharacter(before) && isWordCharacter(r) && !isDigit(r) {
			words = true
		}
		before, last = last, r
	}
	return words && isWordCharacter(first) && isWordCharacter(last) && !isDigit(last)
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// isWordCharacter reports whether r is a letter or a digit of ASCII, or one of the other characters that the library's pattern takes for a letter.
func isWordCharacter(r rune) bool {
	return isDigit(r) || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || isWide(r)
}

func isWide(r rune) bool {
	return 0xA0 <= r && r <= 0xD7FF || 0xF900 <= r && r <= 0xFDCF || 0xFDF0 <= r && r <= 0xFFEF
}
