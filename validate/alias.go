package validate

import "strings"

// halfKeyed reports whether an alias begins or ends the part for a map's keys without doing both.
func halfKeyed(meaning string) bool {
	keys, ends := 0, 0
	for item := range strings.SplitSeq(meaning, ",") {
		switch item {
		case "keys":
			keys++
		case "endkeys":
			ends++
		}
	}
	return keys != ends
}
