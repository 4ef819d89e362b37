package natsstore

import (
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// logLines has what is logged, line by line.
type logLines chan string

func (l logLines) Write(text []byte) (int, error) {
	l <- string(text)
	return len(text), nil
}

func TestWhatTheServerRefusesForWantOfARightIsLogged(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, JetStream: true, StoreDir: t.TempDir(), Users: []*server.User{
		{Username: "shop", Password: "pw", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"$JS.API.STREAM.CREATE.>"}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	logged := make(logLines, 16)
	conn, err := Open(t.Context(), &url.URL{Scheme: "nats", User: url.UserPassword("shop", "pw"), Host: s.Addr().String()}, Config{Log: slog.New(slog.NewTextHandler(logged, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Publish("$JS.API.STREAM.CREATE.orders", nil); err != nil {
		t.Fatal(err)
	}
	select {
	case line := <-logged:
		if !strings.Contains(line, "lacks a right") || !strings.Contains(line, "STREAM.CREATE.orders") {
			t.Errorf("it is logged as %s", line)
		}
	case <-time.After(time.Minute):
		t.Error("nothing is logged")
	}
}
