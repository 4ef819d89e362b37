package nats

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// removeZeroed removes the files with the places of consumers of which a power cut has left zeros only, as file systems do that write a file's length
// before its bytes. nats-server (2.15) takes a file that is missing or empty for the place of a new consumer, whose messages all come again, but refuses
// the consumer of such a file, and its node would not start.
func removeZeroed(store string) error {
	folder := os.DirFS(store)
	files, err := fs.Glob(folder, "jetstream/*/streams/*/obs/*/o.dat")
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := fs.ReadFile(folder, file)
		if err != nil {
			return fmt.Errorf("reading the place of a consumer: %w", err)
		}
		if len(content) == 0 || strings.Trim(string(content), "\x00") != "" {
			continue
		}
		at := filepath.Join(store, file)
		if err := os.Remove(at); err != nil {
			return fmt.Errorf("removing a file that a power cut has left without its content: %w", err)
		}
		slog.Warn("embedded NATS server: the place of a consumer was lost, as a power cut leaves it; all messages that are kept come to it again", "file", at)
	}
	return nil
}
