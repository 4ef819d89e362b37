package validate

import "strings"

// The rules of this file take the texts that the patterns of the library's rules do, see their test. A regular expression would take 0.3 MB of every
// program, whether it has such a rule or not, and several times as long.

// isHostname wants labels of RFC 952: the first begins with a letter.
func isHostname(s string) bool { return s != "" && letterClass.has(s[0]) && isHostname1123(s) }

func isHostname1123(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !isLabel(label) || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// isLabel reports whether s may be a part of a host's name, but for its end.
func isLabel(s string) bool { return len(s) <= 63 && hostClass.all(s) && s[0] != '-' }

// isFQDN wants two labels or more, the last of which begins with a letter. A dot may end it.
func isFQDN(s string) bool {
	s = strings.TrimSuffix(s, ".")
	last := strings.LastIndexByte(s, '.') + 1
	if len(s) > 253 || last == 0 || last == len(s) || !letterClass.has(s[last]) {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isLabel(label) {
			return false
		}
	}
	return true
}

// isBase64 returns the check for base64 with padding, of at least one group.
func isBase64(class *charClass) func(string) bool {
	return func(s string) bool {
		if len(s)%4 != 0 {
			return false
		}
		return class.all(strings.TrimSuffix(strings.TrimSuffix(s, "="), "="))
	}
}

func isBase64RawURL(s string) bool { return len(s)%4 != 1 && base64URLClass.all(s) }

func isE164(s string) bool {
	s = strings.TrimPrefix(s, "+")
	return len(s) >= 8 && len(s) <= 15 && s[0] != '0' && digitClass.all(s)
}

func isSemver(s string) bool {
	s, build, hasBuild := strings.Cut(s, "+")
	if hasBuild && !dotted(build, &hostClass) {
		return false
	}
	core, pre, hasPre := strings.Cut(s, "-")
	if hasPre {
		if !dotted(pre, &hostClass) {
			return false
		}
		for part := range strings.SplitSeq(pre, ".") {
			if digitClass.all(part) && !isWhole(part) {
				return false
			}
		}
	}
	parts := 0
	for part := range strings.SplitSeq(core, ".") {
		if parts++; !isWhole(part) {
			return false
		}
	}
	return parts == 3
}

// isWhole reports whether s is a whole number without zeros before it.
func isWhole(s string) bool { return digitClass.all(s) && (s == "0" || s[0] != '0') }

// isULID passes over case as Unicode has it, in which two more characters are letters of ASCII.
func isULID(s string) bool {
	s = strings.ToLower(strings.ToUpper(s))
	return len(s) == 26 && s[0] <= '7' && ulidClass.all(s)
}

func isJWT(s string) bool {
	header, rest, _ := strings.Cut(s, ".")
	claims, signature, found := strings.Cut(rest, ".")
	return found && base64URLClass.all(header) && base64URLClass.all(claims) && (signature == "" || base64URLClass.all(signature))
}

// degrees returns the check for degrees up to the limit, to both sides.
func degrees(limit int) func(string) bool {
	return func(s string) bool {
		if s != "" && (s[0] == '-' || s[0] == '+') {
			s = s[1:]
		}
		whole, fraction, hasFraction := strings.Cut(s, ".")
		if !isWhole(whole) || len(whole) > 3 || hasFraction && !digitClass.all(fraction) {
			return false
		}
		n := 0
		for _, c := range whole {
			n = n*10 + int(c-'0')
		}
		return n < limit || n == limit && strings.Trim(fraction, "0") == ""
	}
}
