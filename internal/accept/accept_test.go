package accept

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// acceptError makes the error that net returns where accept4 fails.
func acceptError(number syscall.Errno) error {
	return &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", number)}
}

func TestFailuresAreLoggedOnceASecondForEachCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := NewFailures(slog.New(slog.NewTextHandler(&log, nil)), "127.0.0.1:7700", "nodes")
		began, failed := time.Now(), 0
		for time.Since(began) < 10*time.Second {
			for _, number := range []syscall.Errno{syscall.EMFILE, syscall.ECONNABORTED} {
				f.Accepted() // now and then a connection ends, and the next one takes its place
				f.Pause(acceptError(number), nil)
				failed++
			}
		}
		f.Pause(acceptError(syscall.EMFILE), nil)
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) < 20 || len(lines) > 22 {
			t.Errorf("%d lines in 10 s of two causes, want one a second for each", len(lines))
		}
		counted := 0
		for _, count := range regexp.MustCompile(` count=(\d+) `).FindAllStringSubmatch(log.String(), -1) {
			n, _ := strconv.Atoi(count[1])
			counted += n
		}
		if counted < failed-2000 || counted > failed+1 {
			t.Errorf("the lines count %d failures of %d", counted, failed)
		}
		if !strings.Contains(lines[0], "address=127.0.0.1:7700") || !strings.Contains(lines[0], "from=nodes") {
			t.Errorf("the line does not say whom it is about: %s", lines[0])
		}
	})
}

func TestOneLineSaysThatConnectionsAreAcceptedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := NewFailures(slog.New(slog.NewTextHandler(&log, nil)), "127.0.0.1:7700", "nodes")
		const again = "level=INFO msg=\"connections are accepted again\""
		lines := func() int { time.Sleep(2 * time.Second); synctest.Wait(); return strings.Count(log.String(), again) }
		f.Accepted()
		if got := lines(); got != 0 {
			t.Errorf("%d lines although Accept never failed", got)
		}
		for round := 1; round <= 2; round++ {
			for range 50 { // a connection ends now and then, and the next one takes its place
				f.Pause(acceptError(syscall.EMFILE), nil)
				f.Accepted()
			}
			f.Pause(acceptError(syscall.EMFILE), nil)
			if got := lines(); got != round-1 {
				t.Errorf("%d lines while Accept fails, want %d", got, round-1)
			}
			f.Accepted()
			f.Accepted()
			if got := lines(); got != round {
				t.Errorf("%d lines when Accept succeeds, want %d:\n%s", got, round, log.String())
			}
		}
		if got := strings.Count(log.String(), again+" failed=51 address=127.0.0.1:7700 from=nodes"); got != 2 {
			t.Errorf("%d lines with the number of failures, want 2:\n%s", got, log.String())
		}
	})
}

func TestThePauseGrowsToASecondAndEndsWhenItShould(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFailures(slog.New(slog.DiscardHandler), "", "nodes")
		for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000} {
			began := time.Now()
			f.Pause(acceptError(syscall.EMFILE), nil)
			if got := time.Since(began); got != want*time.Millisecond {
				t.Fatalf("it waited %v, want %v", got, want*time.Millisecond)
			}
		}
		f.Accepted()
		began := time.Now()
		f.Pause(acceptError(syscall.EMFILE), nil)
		if got := time.Since(began); got != time.Millisecond {
			t.Errorf("after a connection it waited %v", got)
		}
		done := make(chan struct{})
		close(done)
		began = time.Now()
		f.Pause(acceptError(syscall.EMFILE), done)
		if got := time.Since(began); got != 0 {
			t.Errorf("it waited %v although it was done", got)
		}
	})
}

func TestExplainSaysWhatHelps(t *testing.T) {
	for number, want := range map[syscall.Errno]string{syscall.EMFILE: "LimitNOFILE", syscall.ENFILE: "fs.file-max", syscall.ENOBUFS: "memory", syscall.ENOMEM: "memory"} {
		err := Explain(acceptError(number))
		if !errors.Is(err, number) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %s in it", err, want)
		}
	}
	if other := acceptError(syscall.ECONNABORTED); Explain(other) != other || Explain(nil) != nil {
		t.Error("other errors are not as they were")
	}
}

// full is a listener without files for the first connections.
type full struct {
	net.Listener
	errs []error
}

func (f *full) Accept() (net.Conn, error) {
	if len(f.errs) > 0 {
		err := f.errs[0]
		f.errs = f.errs[1:]
		return nil, err
	}
	server, _ := net.Pipe()
	return server, nil
}

func (f *full) Close() error   { return nil }
func (f *full) Addr() net.Addr { return &net.TCPAddr{Port: 7700} }

func TestAListenerGoesOnWhereAcceptMaySucceedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		over := errors.New("no socket")
		l := Listener(&full{errs: []error{acceptError(syscall.EMFILE), acceptError(syscall.EMFILE), acceptError(syscall.ECONNABORTED)}}, slog.New(slog.NewTextHandler(&log, nil)), "operators")
		if c, err := l.Accept(); err != nil {
			t.Error(err)
		} else {
			c.Close()
		}
		if got := strings.Count(log.String(), "\n"); got != 2 {
			t.Errorf("the log has %d lines, want one for each of two causes:\n%s", got, log.String())
		}
		l = Listener(&full{errs: []error{fmt.Errorf("accept: %w", over)}}, slog.New(slog.DiscardHandler), "operators")
		if _, err := l.Accept(); !errors.Is(err, over) {
			t.Errorf("%v, want an error that stays", err)
		}
	})
}

func TestClosingAListenerEndsItsPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failing []error
		for range 20 {
			failing = append(failing, acceptError(syscall.EMFILE))
		}
		l := Listener(&full{errs: append(failing, net.ErrClosed)}, slog.New(slog.DiscardHandler), "operators")
		ended := make(chan error)
		go func() {
			_, err := l.Accept()
			ended <- err
		}()
		time.Sleep(1500 * time.Millisecond) // of the bubble's time: within a pause
		l.Close()
		began := time.Now()
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it went on for %v", took)
		}
	})
}
