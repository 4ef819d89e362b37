package mcp

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
)

// The SDK lets a panic of a handler end the process; handlers of actions have their own recover.
func TestAPanicIsTheErrorOfItsRequest(t *testing.T) {
	var log bytes.Buffer
	own := httptest.NewRequestWithContext(t.Context(), "POST", "/mcp", nil)
	own.Header.Set("X-Request-Id", "r-1")
	own.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	s := &server{own: own, site: web.Site{Node: sabir.NewNode(sabir.NodeID("n1"), sabir.Logger(slog.New(slog.NewTextHandler(&log, nil))))}}
	for about, what := range map[string]func(){"a panic": func() { panic("hunter2") }, "a nil panic": func() { panic(nil) }} {
		_, err := s.catchPanics(func(context.Context, string, sdk.Request) (sdk.Result, error) {
			what()
			return nil, nil
		})(t.Context(), "tools/call", nil)
		if err == nil || err.Error() == "hunter2" {
			t.Errorf("%s: %v", about, err)
		}
		if line := log.String(); !strings.Contains(line, " request_id=r-1 trace_id=0af7651916cd43dd8448eb211c80319c") {
			t.Errorf("%s: the log does not say which request it was: %s", about, line)
		}
		log.Reset()
	}
}
