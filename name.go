package sabir

import (
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/names"
)

// badServiceName is badName for services: the first word must not look like a version.
func badServiceName(name string) string {
	if bad := names.Fault(name); bad != "" {
		return bad
	}
	first, _, _ := strings.Cut(name, ".")
	if digits, ok := strings.CutPrefix(first, "v"); ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
		return "starts with a version; use sabir.Version(" + digits + ")"
	}
	return ""
}

// fullServiceName is "users" without a version and "v2.users" with one.
func fullServiceName(name string, version int) string {
	if version == 0 {
		return name
	}
	return "v" + itoa(version) + "." + name
}

func itoa(n int) string { return strconv.Itoa(n) }
