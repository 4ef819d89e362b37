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

func TestAStreamWhoseConnectionIsCutBehindAValueIsALostLink(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	files := describe(t, url)
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		if f.HTTP1 {
			t.Skip("streams need HTTP/2")
		}
		between := brokers.NewForwarder(t, strings.TrimPrefix(url, "http://"))
		f.URL, f.Files = "http://"+between.Addr(), files
		stream, err := sabir.OpenStream[text, text](t.Context(), dial(t, f), "calc.chat")
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		if err := stream.Send(text{"a"}); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
		between.Cut()
		if _, err := stream.Recv(); !errors.Is(err, sabir.ErrLinkLost) || sabir.AsError(err).Retryable {
			t.Error(err)
		}
	})
}

func TestAnAnswerThatIsCutWithinItsMessageIsALostLink(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	files := describe(t, url)
	begun := make(chan struct{}, 1)
	half := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		_, _ = w.Write([]byte("\x00\x00\x00\x00\x10half")) // in Connect it is a message without its length
		_ = http.NewResponseController(w).Flush()
		begun <- struct{}{}
		<-r.Context().Done()
	}))
	half.Config.Protocols = new(http.Protocols)
	half.Config.Protocols.SetHTTP1(true)
	half.Config.Protocols.SetUnencryptedHTTP2(true)
	half.Start()
	defer half.Close()
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		between := brokers.NewForwarder(t, strings.TrimPrefix(half.URL, "http://"))
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
