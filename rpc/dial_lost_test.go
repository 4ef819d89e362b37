package rpc_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/rpc"
)

// answerWith starts a server of HTTP/1.1 and HTTP/2 whose answers have begun with body when begun gets a value, and do not end.
func answerWith(t *testing.T, body string, header http.Header) (between *brokers.Forwarder, begun chan struct{}) {
	begun = make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		_, _ = io.WriteString(w, body)
		_ = http.NewResponseController(w).Flush()
		begun <- struct{}{}
		<-r.Context().Done()
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return brokers.NewForwarder(t, strings.TrimPrefix(server.URL, "http://")), begun
}

func TestAStreamWhoseConnectionIsCutBehindAValueIsALostLink(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	files := describe(t, url)
	for name, header := range map[string]http.Header{"cut": nil, "cut behind GOAWAY": {"Connection": {"close"}}} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, f rpc.Foreign) {
				if f.HTTP1 {
					t.Skip("streams need HTTP/2")
				}
				between, _ := answerWith(t, "\x00\x00\x00\x00\x03\x0a\x01x", header)
				f.URL, f.Files = "http://"+between.Addr(), files
				stream, err := sabir.OpenStream[text, text](t.Context(), dial(t, f), "calc.chat")
				if err != nil {
					t.Fatal(err)
				}
				defer stream.Close()
				if _, err := stream.Recv(); err != nil {
					t.Fatal(err)
				}
				between.Cut()
				if _, err := stream.Recv(); !errors.Is(err, sabir.ErrLinkLost) || sabir.AsError(err).Retryable {
					t.Error(err)
				}
			})
		})
	}
}

func TestAnAnswerThatIsCutWithinItsMessageIsALostLink(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	files := describe(t, url)
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		between, begun := answerWith(t, "\x00\x00\x00\x00\x10half", nil) // in Connect it is a message without its length
		f.URL, f.Files = "http://"+between.Addr(), files
		node, failed := dial(t, f), make(chan error)
		go func() {
			_, err := sabir.Call[sumOut](t.Context(), node, "calc.add", sumIn{1, 2})
			failed <- err
		}()
		<-begun
		between.Cut()
		if err := <-failed; !errors.Is(err, sabir.ErrLinkLost) || sabir.AsError(err).Retryable {
			t.Error(err)
		}
	})
}
