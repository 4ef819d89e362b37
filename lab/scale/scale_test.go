package scale

import (
	"bytes"
	"regexp"
	"testing"
	"time"
)

func TestAClusterOfProcessesIsMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	var out, messages bytes.Buffer
	s := settings{nodes: []int{10}, actions: 4, calls: 2, idle: 10 * time.Millisecond}
	if err := s.run(t.Context(), &out, &messages); err != nil {
		t.Fatal(err, messages.String())
	}
	if want := regexp.MustCompile(`\n\| 10 \| [1-9]\d*, at most \d+ \| \d+ \| \d+\.\d MB \| .* \| [1-9]\d*, 0 failed \|\n$`); !want.Match(out.Bytes()) {
		t.Errorf("%s%s", out.String(), messages.String())
	}
}
