package mcp

import (
	"runtime"
	"strings"
	"testing"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestWhatIsReadOfAMessageBeforeItIsRefusedTakesLittleMemory(t *testing.T) {
	const length = 1 << 20
	for name, body := range map[string]string{
		"a batch of half a million": "[" + strings.Repeat("1,", length/2) + "1]",
		"an id that is a list":      `{"id":[` + strings.Repeat(`{"a":1},`, length/8) + `1]}`,
		"a cancelled id":            `{"params":{"requestId":[` + strings.Repeat(`{"a":1},`, length/8) + `1]}}`,
	} {
		var found asked
		if got := allocated(func() { found = peek([]byte(body)) }); got > 8*length {
			t.Errorf("%s: %d bytes for %d", name, got, len(body))
		}
		if strings.HasPrefix(body, "[") != (len(found.messages) > maxBatch) || strings.Contains(name, "that is a list") != found.oddID {
			t.Errorf("%s: %d messages, an odd id: %v", name, len(found.messages), found.oddID)
		}
	}
}
