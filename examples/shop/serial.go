package shop

import (
	"strconv"
	"strings"
)

// serial reads the number of an id such as "u-12"; only the way the demo writes ids is taken, so "u-012" is none.
func serial(prefix, id string) (n int64, ok bool) {
	digits, ok := strings.CutPrefix(id, prefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n > 0 && strconv.FormatInt(n, 10) == digits
}
