package nats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/disk"
)

// mendEvery is the interval at which a store that could not write looks whether there is space again. After it was opened in vain
// the waits grow.
const mendEvery = 200 * time.Millisecond

// maxClients bounds the clients of a server that are looked at.
const maxClients = 1 << 16

// mendWaits are the waits after attempts to open a store that did not last.
var mendWaits = backoff.Backoff{First: mendEvery, Last: 5 * time.Second}

// storeFolder is the folder of an embedded server's store.
//
// nats-server (2.15) keeps the first error of a write for as long as a stream is open: from then on it answers no publisher,
// whatever space there is. So the store is closed and opened again, in the same server, as soon as its disk takes writes.
type storeFolder struct {
	path     string
	folder   *disk.Folder
	failures chan error
}

func storeFolderOf(a *Address) *storeFolder {
	return &storeFolder{path: a.Store, folder: disk.Of(a.Store), failures: make(chan error, 1)}
}

// isWriteFailure reports whether an error in the server's log means that the disk did not take a write.
func isWriteFailure(err error) bool {
	for _, known := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO, syscall.EROFS} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// failed is called by the server, with its locks held.
func (f *storeFolder) failed(err error) {
	f.folder.Fail(err)
	select {
	case f.failures <- err:
	default: // one is noted
	}
}

// mend opens the store anew after each failure, until ctx ends.
func (f *storeFolder) mend(ctx context.Context, s *server.Server) {
	var opened time.Time
	for inVain := 0; ; {
		select {
		case err := <-f.failures:
			slog.Error("embedded NATS server: its disk takes no writes; its store goes on when there is space", "error", err)
		case <-ctx.Done():
			return
		}
		if time.Since(opened) > time.Minute {
			inVain = 0
		}
		if backoff.Sleep(ctx, mendWaits.Wait(inVain)) != nil {
			return
		}
		for f.reopen(s) != nil {
			if backoff.Sleep(ctx, mendEvery) != nil {
				return
			}
		}
		opened, inVain = time.Now(), inVain+1
		slog.Info("embedded NATS server: its disk takes writes again, and its store was opened anew")
	}
}

// reopen closes the store and opens it, if there is space. Nothing that was acknowledged is lost: the server had written it before it
// acknowledged it.
func (f *storeFolder) reopen(s *server.Server) error {
	if err := f.folder.Writable(); err != nil {
		return err
	}
	if err := s.ShutdownJetStream(); err != nil {
		return err
	}
	select {
	case <-f.failures: // of the store that is closed now
	default:
	}
	options := server.JetStreamConfig{StoreDir: f.path, MaxStore: maxStore(f.folder)}
	if err := s.EnableJetStream(&options); err != nil {
		return fmt.Errorf("opening the store again: %w", err)
	}
	if err := unreadStream(s, f.path); err != nil { // a file could not be read for now, it may be, as where too many are open
		return errors.Join(err, s.ShutdownJetStream())
	}
	f.folder.Mend()
	return disconnectStoreClients(s)
}

// disconnectStoreClients has those who wait for the store ask again: it knows nothing of what they asked it before it was closed.
func disconnectStoreClients(s *server.Server) error {
	list, err := s.Connz(&server.ConnzOptions{Limit: maxClients})
	if err != nil {
		return nil // they notice by their time limits
	}
	for _, c := range list.Conns {
		if strings.HasSuffix(c.Name, StoreClient) {
			_ = s.DisconnectClientByID(c.Cid) // it may be gone
		}
	}
	return nil
}

// maxStore is the limit of the server's own for a store. By default that is a share of what is free when the server starts: one
// that starts with a full disk would keep its limit when there is space.
func maxStore(folder *disk.Folder) int64 { return int64(min(folder.Total(), math.MaxInt64)) }
