// Package disk reports whether there is space for more in a folder in which a store keeps its files:
//
//	if err := disk.Of("/var/lib/shop").Full(); err != nil {
//		return fmt.Errorf("%w: %w", engine.ErrFull, err)
//	}
//
// A store that meets the end of its disk in the middle of a write may not come back from that. So a reserve of the disk is kept
// free of what is new: see [Folder.Full]. The reserve is for what makes room, and for small notes without which what is there
// could not be used.
package disk

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxReserve bounds the reserve, and reserveShare is its share of a small disk: 1.5 MB of 24 MB.
	maxReserve   = 64 << 20
	reserveShare = 16
	// noteShare is the share of the reserve that small notes leave free too.
	noteShare = 8
	// askEvery is the time for which an answer of the file system is used again.
	askEvery = 20 * time.Millisecond
	// probeSize is the size of the file by which Writable finds out what the numbers do not show, such as a quota.
	probeSize = 64 << 10
)

// Folder is a folder and the disk below it. All methods may be called from any number of goroutines at once.
type Folder struct {
	path  string
	asked atomic.Int64 // when the file system was asked last, in nanoseconds since begun
	free  atomic.Uint64
	total atomic.Uint64 // 0 where the file system does not say
	fault atomic.Pointer[error]
}

var (
	begun   = time.Now()
	folders sync.Map // by path: the parts of a process that use one folder share what is known of it
)

// Of returns the folder at a path.
func Of(path string) *Folder {
	f, _ := folders.LoadOrStore(path, &Folder{path: path})
	return f.(*Folder)
}

// Full returns why nothing more should be written to the folder: its disk has less than the reserve left, or a write has failed
// since the last [Folder.Mend]; nil where there is space. It asks the file system at most 50 times a second.
func (f *Folder) Full() error {
	if failed := f.fault.Load(); failed != nil {
		return fmt.Errorf("writing to %s failed: %w", f.path, *failed)
	}
	return f.shortOf(1)
}

// Claim is [Folder.Full] for so many bytes, which are about to be written: what the file system has not seen of them is counted.
func (f *Folder) Claim(size int) error {
	if err := f.Full(); err != nil {
		return err
	}
	if left := f.free.Add(-uint64(size)); f.total.Load() == 0 || int64(left) >= int64(f.reserve()) {
		return nil
	}
	f.asked.Store(0) // it may be long written, or another thing removed
	if err := f.shortOf(1); err != nil {
		return err
	}
	if int64(f.free.Add(-uint64(size))) < int64(f.reserve()) {
		return f.full()
	}
	return nil
}

// Exhausted is [Folder.Full] for small notes, which may use most of the reserve.
func (f *Folder) Exhausted() error {
	if failed := f.fault.Load(); failed != nil {
		return fmt.Errorf("writing to %s failed: %w", f.path, *failed)
	}
	return f.shortOf(noteShare)
}

// Writable returns nil where there is space, whatever has failed before. It writes a small file to find out.
func (f *Folder) Writable() error {
	f.asked.Store(0)
	if err := f.shortOf(1); err != nil {
		return err
	}
	probe, err := os.CreateTemp(f.path, ".space-*")
	if err != nil {
		return err
	}
	defer os.Remove(probe.Name())
	defer probe.Close()
	if _, err := probe.Write(make([]byte, probeSize)); err != nil {
		return err
	}
	return probe.Sync() // some file systems find out only then
}

// Fail notes that a write failed in a way that its store does not recover from by itself.
func (f *Folder) Fail(err error) { f.fault.Store(&err) }

// Mend notes that the store can write again.
func (f *Folder) Mend() { f.fault.Store(nil) }

// Total is the size of the disk in bytes, 0 where that is not known.
func (f *Folder) Total() uint64 {
	f.ask()
	return f.total.Load()
}

// shortOf returns an error where less than a share of the reserve is left.
func (f *Folder) shortOf(share uint64) error {
	f.ask()
	if f.total.Load() == 0 || int64(f.free.Load()) >= int64(f.reserve()/share) {
		return nil
	}
	return f.full()
}

func (f *Folder) full() error {
	return fmt.Errorf("the disk of %s is full: %.1f MB are left of %.0f, and %.1f are kept free", f.path, mega(f.free.Load()), mega(f.total.Load()),
		mega(f.reserve()))
}

// reserve is the number of bytes that are kept free.
func (f *Folder) reserve() uint64 { return min(f.total.Load()/reserveShare, maxReserve) }

// mega is a number of bytes in MB; what is about to be written may be more than there is.
func mega(bytes uint64) float64 { return float64(max(0, int64(bytes))) / (1 << 20) }

// ask asks the file system, unless that was done just now.
func (f *Folder) ask() {
	now, last := int64(time.Since(begun)), f.asked.Load()
	if last != 0 && now-last < int64(askEvery) || !f.asked.CompareAndSwap(last, now) {
		return
	}
	free, total, err := space(f.path)
	if err != nil {
		return // the folder is not there yet, or the system has no such question
	}
	f.free.Store(free)
	f.total.Store(total)
}
