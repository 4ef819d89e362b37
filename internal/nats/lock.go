package nats

import (
	"errors"
	"os"
	"path/filepath"
)

// errLocked is the error of lockFolder where another process, or another server of this one, has the folder.
var errLocked = errors.New("the store is in use by another embedded server")

// folderLock is the right to use a folder, until its release or the end of the process.
type folderLock struct{ file *os.File }

func lockFolder(path string) (*folderLock, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	file, err := openLocked(filepath.Join(path, "sabir.lock"))
	if err != nil {
		return nil, err
	}
	return &folderLock{file}, nil
}

func (l *folderLock) release() {
	if l != nil {
		l.file.Close()
	}
}
