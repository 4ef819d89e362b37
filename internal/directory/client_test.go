package directory_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/directory"
)

func TestAConnectionThatCarriesNothingAnyMoreIsGivenUp(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	between := brokers.NewForwarder(t, server.Listener.Addr().String())
	client, err := directory.NewClient([]string{"https://" + between.Addr()}, &tls.Config{InsecureSkipVerify: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ask := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return client.Do(ctx, http.MethodGet, "/", nil, nil)
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	between.Silence()
	begun := time.Now()
	for err = ask(); err != nil; err = ask() {
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("the server is there, and has not been asked on a new connection for %v: %v", time.Since(begun), err)
		}
	}
	t.Logf("answered again after %v", time.Since(begun))
}

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
