package mcp

import (
	"context"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
)

// The SDK lets a panic of a handler end the process; handlers of actions have their own recover.
func TestAPanicIsTheErrorOfItsRequest(t *testing.T) {
	s := &server{site: web.Site{Node: sabir.NewNode(sabir.NodeID("n1"))}}
	for about, what := range map[string]func(){"a panic": func() { panic("hunter2") }, "a nil panic": func() { panic(nil) }} {
		_, err := s.catchPanics(func(context.Context, string, sdk.Request) (sdk.Result, error) {
			what()
			return nil, nil
		})(t.Context(), "tools/call", nil)
		if err == nil || err.Error() == "hunter2" {
			t.Errorf("%s: %v", about, err)
		}
	}
}
