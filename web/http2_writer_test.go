package web

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpstream"
)

// protocols are those that a client may ask for, by the name that an answer has.
var protocols = map[string]func(*http.Protocols, bool){"HTTP/1.1": (*http.Protocols).SetHTTP1, "HTTP/2.0": (*http.Protocols).SetUnencryptedHTTP2}

// askBy makes a request by one of the protocols, whose answer the test reads.
func askBy(t *testing.T, protocol, url, accept string) *http.Response {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	protocols[protocol](transport.Protocols, true)
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	r, err := http.NewRequestWithContext(ctx, "POST", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		answer.Body.Close()
		transport.CloseIdleConnections()
	})
	if answer.Proto != protocol {
		t.Fatalf("the protocol is %s", answer.Proto)
	}
	return answer
}

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
	for protocol := range protocols {
		for accept, want := range map[string][]string{
			"text/event-stream":    {"id: 1", "data: 1", "", ":", "", ":", "", ":"},
			"application/x-ndjson": {"1", "", "", ""},
		} {
			t.Run(protocol+" "+accept, func(t *testing.T) {
				t.Parallel()
				answer := askBy(t, protocol, "http://"+node.HTTPAddr()+"/silent/values", accept)
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

// MCP and tRPC are such handlers.
func TestAMountedHandlerMayPauseForLongerThanAWriteMayTake(t *testing.T) {
	const limit = 400 * time.Millisecond
	node := start(t, sabir.HTTP(":0", Mounted("/parts", func(Site) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			control := http.NewResponseController(w)
			for i := range 3 {
				if i > 0 {
					time.Sleep(2 * limit)
				}
				if control.SetWriteDeadline(time.Now().Add(limit)) != nil {
					return
				}
				if _, err := io.WriteString(w, "part\n"); err != nil || control.Flush() != nil {
					return
				}
			}
		}), nil
	})))
	for protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			text, err := io.ReadAll(askBy(t, protocol, "http://"+node.HTTPAddr()+"/parts", "*/*").Body)
			if err != nil || string(text) != "part\npart\npart\n" {
				t.Errorf("%q: %v", text, err)
			}
		})
	}
}
