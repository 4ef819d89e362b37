package web

import (
	"bufio"
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpstream"
)

// The heartbeats show that it goes on: each comes after a time that is longer than a write may take.
func TestAStreamThatIsSilentForLongerThanAWriteMayTakeGoesOn(t *testing.T) {
	service := sabir.NewService("silent")
	sabir.HandleStream(service, "values", func(ctx context.Context, stream *sabir.Stream[sabir.Empty, int]) error {
		if err := stream.Send(1); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}, sabir.ServerStream(), sabir.Idempotent())
	node := start(t, sabir.Serve(service), withStreams(httpstream.Limits{Heartbeat: 800 * time.Millisecond, Write: 400 * time.Millisecond}))
	for _, test := range []struct {
		protocol string
		set      func(*http.Protocols, bool)
	}{{"HTTP/1.1", (*http.Protocols).SetHTTP1}, {"HTTP/2.0", (*http.Protocols).SetUnencryptedHTTP2}} {
		for accept, want := range map[string][]string{
			"text/event-stream":    {"id: 1", "data: 1", "", ":", "", ":", "", ":"},
			"application/x-ndjson": {"1", "", "", ""},
		} {
			t.Run(test.protocol+" "+accept, func(t *testing.T) {
				t.Parallel()
				transport := &http.Transport{Protocols: new(http.Protocols)}
				test.set(transport.Protocols, true)
				defer transport.CloseIdleConnections()
				ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
				defer cancel()
				r, err := http.NewRequestWithContext(ctx, "POST", "http://"+node.HTTPAddr()+"/silent/values", nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Accept", accept)
				answer, err := transport.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				if answer.Proto != test.protocol {
					t.Fatalf("the protocol is %s", answer.Proto)
				}
				lines := bufio.NewScanner(answer.Body)
				for _, line := range want {
					if !lines.Scan() || lines.Text() != line {
						t.Fatalf("the line is %q, want %q: %v", lines.Text(), line, lines.Err())
					}
				}
			})
		}
	}
}
