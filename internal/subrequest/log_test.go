package subrequest_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/subrequest"
)

func TestATraceIsNamedWhereItsHeaderIsValid(t *testing.T) {
	const trace = "0af7651916cd43dd8448eb211c80319c"
	for header, want := range map[string]string{
		"00-" + trace + "-b7ad6b7169203331-01":                    trace,
		"01-" + trace + "-b7ad6b7169203331-01-more":               trace,
		"00-" + trace + "-b7ad6b7169203331-01-more":               "",
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01": "",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": "",
		"00-" + trace[1:] + "-b7ad6b7169203331-01":                "",
		"00-" + trace: "",
		"":            "",
		"00-0af7651916cd43dd8448eb211c8031\nc-b7ad6b7169203331-01-01": "",
	} {
		if got := subrequest.Trace(header); got != want {
			t.Errorf("%q: %q", header, got)
		}
	}
}
