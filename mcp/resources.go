package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/subrequest"
)

// resource is a route with GET of an action, whose values of the path are those of the URI.
type resource struct {
	uri    string // with names in braces: "orders://{id}"
	path   string // of the route, with the same names: "/orders/{id}"
	action api.Action
}

// resourceOf makes the resource of a route. It returns nil for one that has no GET, or takes more than the segments of its path.
func resourceOf(a *api.Action, r route.Route) *resource {
	if r.Method != http.MethodGet || r.Body || a.Stream || strings.Contains(r.Pattern, "...}") {
		return nil
	}
	if slices.ContainsFunc(r.Params, func(p route.Param) bool { return p.In != route.Path && p.Required }) {
		return nil
	}
	scheme := strings.ToLower(strings.ReplaceAll(a.Service, "_", "-")) // RFC 3986, section 3.1
	if scheme == "" || scheme[0] < 'a' || scheme[0] > 'z' {
		return nil
	}
	segments := strings.Split(strings.TrimPrefix(r.Pattern, "/"), "/")
	name := a.Service[strings.LastIndexByte(a.Service, '.')+1:]
	if at := slices.Index(segments, name); at >= 0 { // which the scheme says already
		segments = segments[at+1:]
	}
	return &resource{uri: scheme + "://" + strings.Join(segments, "/"), path: r.Pattern, action: *a}
}

// hasNames reports whether the URI is a template.
func (r *resource) hasNames() bool { return strings.Contains(r.uri, "{") }

// pathFor returns the path for a URI that fits the template.
func (r *resource) pathFor(uri string) (string, bool) {
	wanted, given := strings.Split(r.uri, "/"), strings.Split(uri, "/")
	if len(wanted) != len(given) {
		return "", false
	}
	path := r.path
	for i, segment := range wanted {
		if !strings.HasPrefix(segment, "{") {
			if segment != given[i] {
				return "", false
			}
			continue
		}
		value, err := url.PathUnescape(given[i])
		if err != nil || value == "" || value == "." || value == ".." {
			return "", false
		}
		path = strings.Replace(path, segment, url.PathEscape(value), 1)
	}
	return path, true
}

func (o *offer) updateResources(now api.API) {
	found := make(map[string]*resource)
	for i := range now.Actions {
		a := &now.Actions[i]
		if !matches(o.server.config.Resources, a.Name) {
			continue
		}
		for _, route := range a.Routes {
			r := resourceOf(a, route)
			switch {
			case r == nil:
			case found[r.uri] != nil:
				o.refuse(a.Name, "its resource, "+r.uri+", is that of "+found[r.uri].action.Name)
			default:
				found[r.uri] = r
			}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for uri, r := range o.resources {
		switch {
		case found[uri] != nil:
		case r.hasNames():
			o.server.sdk.RemoveResourceTemplates(uri)
			delete(o.shown, uri)
		default:
			o.server.sdk.RemoveResources(uri)
			delete(o.shown, uri)
		}
	}
	o.resources = found
	for uri, r := range found {
		template := &sdk.ResourceTemplate{URITemplate: uri, Name: r.action.Name, Title: r.action.Name, Description: r.action.Description, MIMEType: "application/json"}
		text, err := json.Marshal(template)
		if err != nil || bytes.Equal(o.shown[uri], text) {
			continue
		}
		o.shown[uri] = text
		if r.hasNames() {
			o.server.sdk.AddResourceTemplate(template, o.server.readResource)
			continue
		}
		o.server.sdk.AddResource(&sdk.Resource{URI: uri, Name: template.Name, Title: template.Title, Description: template.Description, MIMEType: template.MIMEType}, o.server.readResource)
	}
}

// resource finds the resource of a URI, and the path of its route.
func (o *offer) resource(uri string) (*resource, string) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if r := o.resources[uri]; r != nil && !r.hasNames() {
		return r, r.path
	}
	for _, r := range o.resources {
		if path, ok := r.pathFor(uri); ok {
			return r, path
		}
	}
	return nil, ""
}

// readResource answers with what the action answers.
func (s *server) readResource(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	found, path := s.offer.resource(r.Params.URI)
	from := s.callerOf(r.Extra)
	if found == nil || from == nil {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	request, done := subrequest.New(ctx, from, http.MethodGet, path, nil)
	defer done()
	request.Header.Set("Accept", "application/json")
	a := subrequest.Do(s.site.Handler, request, nil)
	if p := a.Problem(); p != nil {
		return nil, readError(r.Params.URI, p)
	}
	return &sdk.ReadResourceResult{
		Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: a.Header().Get("Content-Type"), Text: string(a.Body)}},
	}, nil
}

// codeServer is the first of the codes that JSON-RPC leaves to servers.
const codeServer = -32000

// readError is the error of an action as JSON-RPC has it.
func readError(uri string, p *subrequest.Problem) error {
	e := &jsonrpc.Error{Code: codeServer, Message: p.Message}
	switch p.Code {
	case "NotFound":
		return sdk.ResourceNotFoundError(uri)
	case "InvalidArgument":
		e.Code = jsonrpc.CodeInvalidParams
	case "Internal", "Unknown":
		e.Code = jsonrpc.CodeInternalError
	}
	if data, err := json.Marshal(detailsOf(p)); err == nil {
		e.Data = data
	}
	return e
}
