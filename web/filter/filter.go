package filter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/exchange"
)

// The errors that filters answer with, besides sabir.ErrRateLimited.
var (
	// errFilterMisconfigured: a filter has settings that it cannot work with. Every request gets it. Correct what the message names.
	errFilterMisconfigured = sabir.NewError(sabir.CodeInternal, "FilterMisconfigured", "a filter is not set up correctly")
	// errAddressRefused: [IPs] does not take calls from this address.
	errAddressRefused = sabir.NewError(sabir.CodePermissionDenied, "AddressRefused", "calls from this address are not taken")
)

// problems collects the errors in a filter's settings.
type problems []error

func (p *problems) want(ok bool, format string, args ...any) {
	if !ok {
		*p = append(*p, fmt.Errorf("filter."+format, args...))
	}
}

// filter is f, or one that refuses everything because of the problems. The text of those is the author's, not the caller's.
func (p problems) filter(f exchange.Filter) exchange.Filter {
	if len(p) == 0 {
		return f
	}
	err := errors.Join(p...)
	refusal := sabir.Errorf(sabir.CodeInternal, errFilterMisconfigured.Name, "%w", err)
	return exchange.Filter{Name: f.Name, Before: func(*exchange.Exchange) error { return refusal }, Problem: err}
}

// vary records that the answer depends on a header of the request (RFC 9110, section 12.5.5).
func vary(x *exchange.Exchange, name string) {
	for line := range x.Answer.All("Vary") {
		for item := range strings.SplitSeq(line, ",") {
			if item = strings.Trim(item, " \t"); item == "*" || strings.EqualFold(item, name) {
				return
			}
		}
	}
	x.Answer.Add("Vary", name)
}

// status returns the status of the answer.
func status(x *exchange.Exchange) int {
	if x.Status == 0 {
		return 200
	}
	return x.Status
}

// isToken reports whether s can be a name of a header or a method (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || strings.IndexByte(`"(),/:;<=>?@[\]{}`, s[i]) >= 0 {
			return false
		}
	}
	return s != ""
}
