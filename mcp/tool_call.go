package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir/internal/subrequest"
)

// call calls the action of a tool.
func (s *server) call(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	t, from := s.offer.tool(r.Params.Name), s.callerOf(r.Extra)
	if t == nil || from == nil { // it has gone in this moment
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool " + r.Params.Name}
	}
	input, err := t.arguments(r.Params.Arguments)
	if err != nil {
		return failed(&subrequest.Problem{Code: "InvalidArgument", Name: "BadInput", Message: err.Error()}), nil
	}
	if t.action.Many() {
		return s.stream(ctx, r, t, from, input), nil
	}
	request, done := subrequest.New(ctx, from, http.MethodPost, t.action.Path, input)
	defer done()
	request.Header.Set("Accept", "application/json")
	a := subrequest.Do(s.site.Handler, request, nil)
	if p := a.Problem(); p != nil {
		return failed(p), nil
	}
	return t.answer(a.Body), nil
}

// arguments makes the action's input of the arguments of a call.
func (t *tool) arguments(given json.RawMessage) ([]byte, error) {
	if len(given) == 0 || string(given) == "null" {
		given = json.RawMessage("{}")
	}
	if !t.input {
		return given, nil
	}
	var arguments map[string]json.RawMessage
	if err := json.Unmarshal(given, &arguments); err != nil {
		return nil, errNoObject
	}
	if arguments[inputMember] == nil {
		return nil, errNoInput
	}
	return arguments[inputMember], nil
}

// answer makes the result of the action's answer. Where the tool has an outputSchema, the text repeats the structured content, for models
// of clients that show them the text only.
func (t *tool) answer(output []byte) *sdk.CallToolResult {
	if t.action.Out == nil {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}
	}
	if !json.Valid(output) {
		return failed(&subrequest.Problem{Code: "Internal", Name: "BadOutput", Message: t.action.Name + " has answered something that is not JSON"})
	}
	if t.noNull && string(bytes.TrimSpace(output)) == "null" { // a nil pointer; clients fail at content that breaks the outputSchema, or is missing
		return failed(&subrequest.Problem{Code: "Internal", Name: "BadOutput", Message: t.action.Name + " is done and has answered nothing: null"})
	}
	if t.result {
		output = slices.Concat([]byte(`{"`+resultMember+`":`), output, []byte("}"))
	}
	return structured(output)
}

func structured(object []byte) *sdk.CallToolResult {
	return &sdk.CallToolResult{StructuredContent: json.RawMessage(object), Content: []sdk.Content{&sdk.TextContent{Text: string(object)}}}
}

// details are the members of an error beside its message, as clients get them.
type details struct {
	Error     string          `json:"error,omitempty"`
	Code      string          `json:"code"`
	Retryable bool            `json:"retryable"`
	Data      json.RawMessage `json:"data,omitempty"`
}

func detailsOf(p *subrequest.Problem) details { return details{p.Name, p.Code, p.Retryable, p.Data} }

// failed is the result of a call that has failed: first the message for a model, then what else the error has, as JSON.
func failed(p *subrequest.Problem) *sdk.CallToolResult {
	result := &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: p.Message}}}
	if text, err := json.Marshal(detailsOf(p)); err == nil {
		result.Content = append(result.Content, &sdk.TextContent{Text: string(text)})
	}
	return result
}
