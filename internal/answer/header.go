package answer

import (
	"fmt"
	"strings"
)

// CheckHeader returns what is wrong with the name of a header, or with its value, as HTTP has them (RFC 9110, section 5).
func CheckHeader(name, value string) error {
	bad := func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}
	if name == "" || strings.ContainsFunc(name, bad) {
		return fmt.Errorf("%.100q is no name of a header", name)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f }) || strings.Trim(value, " \t") != value {
		return fmt.Errorf("the header %.100q has a value with a control character, an outer space or a character outside ASCII, which HTTP cannot carry", name)
	}
	return nil
}
