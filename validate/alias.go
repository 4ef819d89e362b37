package validate

import "strings"

// reservedAlias reports whether the library refuses the name of an alias, because it steers or has characters that do.
func reservedAlias(name string) bool {
	switch name {
	case "", "dive", "keys", "endkeys", "structonly", "omitempty", "omitzero", "omitnil", "-", "required", "isdefault", "nostructlevel":
		return true
	}
	return strings.ContainsAny(name, ".[],|=+()`~!@#$%^&*\\\"/?<>{}")
}

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
