package nats

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// unreadStream is an error where a server has left out a stream whose messages are in the folder of its store. nats-server (2.15)
// starts without one whose description it cannot read, and whoever then makes it anew deletes the messages.
func unreadStream(s *server.Server, store string) error {
	account := s.GlobalAccount().GetName()
	info, err := s.Jsz(&server.JSzOptions{Account: account, Streams: true})
	if err != nil {
		return err
	}
	read := make(map[string]bool)
	for _, a := range info.AccountDetails {
		for _, stream := range a.Streams {
			read[stream.Name] = true
		}
	}
	streams := filepath.Join(store, "jetstream", account, "streams")
	folders, err := os.ReadDir(streams)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, folder := range folders {
		at := filepath.Join(streams, folder.Name())
		if read[folder.Name()] || strings.HasPrefix(folder.Name(), ".") || !keepsMessages(at) { // with a dot it is being deleted
			continue
		}
		return fmt.Errorf("the store cannot read its stream %s, of which the log says more: put a backup in the place of %s, or move that away to go on without its messages",
			folder.Name(), at)
	}
	return nil
}

// keepsMessages reports whether there are messages in the folder of a stream. One whose making was cut short has none.
func keepsMessages(folder string) bool {
	files, _ := os.ReadDir(filepath.Join(folder, "msgs")) // a folder that is not there has no messages
	for _, file := range files {
		if info, err := file.Info(); err == nil && strings.HasSuffix(file.Name(), ".blk") && info.Size() > 0 {
			return true
		}
	}
	return false
}
