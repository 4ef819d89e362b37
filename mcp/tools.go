package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/names"
)

// The members in which inputs and outputs are that are no objects.
const (
	inputMember  = "input"
	resultMember = "result"
)

// tool is an action as clients call it.
type tool struct {
	described *sdk.Tool
	action    api.Action
	input     bool // arguments have the input in a member of their own
	result    bool // and so has the answer its output
	noNull    bool // the output is never null, by its schema
}

// maxToolName bounds the names of tools, in characters. Vendors of models take no longer ones; the protocol allows 128.
const maxToolName = 64

// toolName is the name of an action's tool. Vendors of models take letters, digits, "_" and "-" only.
func toolName(action string) string { return strings.ReplaceAll(action, ".", "_") }

func newTool(a *api.Action, of api.API) *tool {
	t := &tool{action: *a}
	in, wrapped := inputSchema(a.In, of.Types)
	t.input = wrapped
	in.AnyOf, in.AllOf = nil, nil // vendors of models take none at the root; the action checks all the same
	in.withExamples(a, wrapped)
	t.described = &sdk.Tool{Name: toolName(a.Name), Title: a.Name, Description: describe(a), InputSchema: in, Annotations: annotations(a)}
	switch {
	case a.Many():
		t.described.OutputSchema = streamSchema(a.Out, of.Types)
	case a.Out != nil:
		out, wrapped := outputSchema(a.Out, of.Types)
		t.described.OutputSchema, t.result = out, wrapped
		types := a.Out.Resolve(of.Types).Type
		t.noNull = len(types) > 0 && !slices.Contains(types, "null")
	}
	return t
}

// describe tells a model what the tool does and how it can fail.
func describe(a *api.Action) string {
	var text strings.Builder
	text.WriteString(a.Description)
	if a.Deprecated {
		fmt.Fprintf(&text, "\nDeprecated: %s", a.Instead)
	}
	for i, e := range a.Errors {
		if i == 0 {
			text.WriteString("\nErrors:")
		}
		fmt.Fprintf(&text, "\n- %s: %s", e.Name, e.Description)
	}
	return strings.TrimPrefix(text.String(), "\n")
}

// annotations are hints by which clients decide whether to ask their user first. What the action does not declare is left to the
// defaults of the protocol, which suspect the worst.
func annotations(a *api.Action) *sdk.ToolAnnotations {
	hints := &sdk.ToolAnnotations{Title: a.Name, ReadOnlyHint: a.Reads(), IdempotentHint: a.Idempotent || a.Reads()}
	for _, r := range a.Routes {
		if r.Method == http.MethodDelete || r.Method == http.MethodPut || r.Method == http.MethodPatch {
			destructive := true
			hints.DestructiveHint = &destructive
		}
	}
	return hints
}

// offer holds the tools and resources that clients can use now. update follows the actions of the node, and gives the SDK only those that
// changed, since it notifies every client of each.
type offer struct {
	server *server

	mu        sync.RWMutex
	tools     map[string]*tool
	resources map[string]*resource // by URI or URI template
	shown     map[string][]byte    // tools and resources as clients know them
	reported  map[string]bool      // names of actions that cannot be offered
}

func newOffer(s *server) *offer {
	return &offer{server: s, tools: make(map[string]*tool), shown: make(map[string][]byte), reported: make(map[string]bool)}
}

// tool is the tool of that name; nil for none.
func (o *offer) tool(name string) *tool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.tools[name]
}

// update makes the tools and resources those of the actions that there are. The SDK notifies clients where they have changed.
func (o *offer) update() {
	now := o.server.site.API()
	o.updateTools(now)
	if len(o.server.config.Resources) > 0 {
		o.updateResources(now)
	}
}

func (o *offer) updateTools(now api.API) {
	tools := make(map[string]*tool)
	for i := range now.Actions {
		a := &now.Actions[i]
		if !matches(o.server.config.Tools, a.Name) || o.server.config.ReadOnly && !a.Reads() {
			continue
		}
		t := newTool(a, now)
		switch other := tools[t.described.Name]; {
		case len(t.described.Name) > maxToolName:
			o.refuse(a.Name, fmt.Sprintf("its name has more than %d characters", maxToolName))
		case other != nil:
			o.refuse(a.Name, "its name as a tool, "+t.described.Name+", is that of "+other.action.Name)
		default:
			tools[t.described.Name] = t
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var gone []string
	for name := range o.tools {
		if tools[name] == nil {
			gone = append(gone, name)
			delete(o.shown, name)
		}
	}
	o.tools = tools
	if gone != nil {
		o.server.sdk.RemoveTools(gone...)
	}
	for name, t := range tools {
		text, err := json.Marshal(t.described)
		if err != nil {
			o.refuse(t.action.Name, err.Error())
			continue
		}
		if !bytes.Equal(o.shown[name], text) {
			o.shown[name] = text
			o.server.sdk.AddTool(t.described, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return o.server.call(ctx, r)
			})
		}
	}
}

// refuse logs once why an action is no tool.
func (o *offer) refuse(action, why string) {
	if !o.reported[action] {
		o.reported[action] = true
		o.server.site.Node.Log().Error("an action cannot be offered over mcp", "action", action, "error", why)
	}
}

// matches reports whether an action's name, with or without its version, matches one of the patterns.
func matches(patterns []string, name string) bool {
	if slices.ContainsFunc(patterns, func(pattern string) bool { return names.Match(pattern, name) }) {
		return true
	}
	version, short, _ := strings.Cut(name, ".")
	if len(version) < 2 || version[0] != 'v' || strings.Trim(version[1:], "0123456789") != "" {
		return false
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool { return names.Match(pattern, short) })
}
