package h2_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

// BenchmarkRawBatchedEcho is the reference for links over this carrier: net/http alone, a write for each batch.
func BenchmarkRawBatchedEcho(b *testing.B) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	settings := &http.HTTP2Config{MaxReadFrameSize: 256 << 10, MaxReceiveBufferPerConnection: 1 << 20, MaxReceiveBufferPerStream: 1 << 20}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		control.Flush()
		transporttest.AnswerBatches(answering{r.Body, w, control})
	}))
	server.Config.Protocols, server.Config.HTTP2 = protocols, settings
	server.Start()
	defer server.Close()
	client := &http.Transport{Protocols: protocols, HTTP2: settings}
	defer client.CloseIdleConnections()
	body, out := io.Pipe()
	defer out.Close()
	request, _ := http.NewRequest(http.MethodPost, server.URL, body)
	response, err := client.RoundTrip(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	transporttest.AskBatches(b, struct {
		io.Reader
		io.Writer
	}{response.Body, out})
}

// answering is the side of a request's handler. Each write goes out at once.
type answering struct {
	io.Reader
	to      io.Writer
	control *http.ResponseController
}

func (a answering) Write(p []byte) (int, error) {
	n, err := a.to.Write(p)
	if err == nil {
		err = a.control.Flush()
	}
	return n, err
}

// BenchmarkBatchedEcho is the same over the transport's connections.
func BenchmarkBatchedEcho(b *testing.B) {
	transporttest.BenchmarkStream(b, "h2c://:0", transport.Config{})
}
