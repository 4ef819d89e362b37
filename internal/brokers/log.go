package brokers

import (
	"bytes"
	"os"
)

// tail is the last of a log, for errors.
func tail(path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		return []byte(err.Error())
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-20):], []byte("\n"))
}
