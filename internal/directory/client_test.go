package directory_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/directory"
)

func TestTheLogSaysWhyADirectoryIsNotReachedAlsoWhereTheReasonComesLater(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var log bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		err := errors.New("the watch ended: unexpected EOF")
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			directory.Keep(ctx, slog.New(slog.NewTextHandler(&log, nil)), "etcd", func(context.Context, func()) error {
				failed := err
				err = errors.New("database space exceeded")
				return failed
			})
		}()
		time.Sleep(time.Hour)
		cancel()
		<-ended
		if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "unexpected EOF") || !strings.Contains(log.String(), "database space exceeded") {
			t.Errorf("want a line for each of two reasons:\n%s", log.String())
		}
	})
}
