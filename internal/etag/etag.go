// Package etag compares entity tags of HTTP (RFC 9110, section 8.8.3).
package etag

import "strings"

// Matches reports whether the value of an If-Match or If-None-Match header has the tag. tag is "" for a thing that does not exist, which
// nothing matches; "*" matches each that exists. A strong comparison, which If-Match wants, matches no weak tag. A malformed list
// matches nothing behind the fault.
func Matches(line, tag string, strong bool) bool {
	line = strings.Trim(line, " \t")
	if tag == "" {
		return false
	}
	if line == "*" {
		return true
	}
	bare := strings.TrimPrefix(tag, "W/")
	if strong && bare != tag {
		return false
	}
	for {
		line = strings.TrimLeft(line, " \t,")
		opaque := strings.TrimPrefix(line, "W/")
		if !strings.HasPrefix(opaque, `"`) {
			return false
		}
		end := strings.IndexByte(opaque[1:], '"')
		if end < 0 {
			return false
		}
		if opaque[:end+2] == bare && !(strong && len(opaque) < len(line)) {
			return true
		}
		line = strings.TrimLeft(opaque[end+2:], " \t")
		if line != "" && line[0] != ',' {
			return false
		}
	}
}
