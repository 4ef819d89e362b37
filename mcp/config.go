package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/web"
)

// Config says what [At] and [ServeStdio] offer. A mistake in it is an error of the node's start.
type Config struct {
	// Tools offers the actions and streams that match one of the patterns, such as "orders.*", "orders.get" or "**", in any version. Only
	// what callers of the server can reach over HTTP is offered: public actions of the node, and those of other nodes that Forward of web.Config
	// names. Default: none.
	Tools []string
	// ReadOnly leaves out, of what Tools names, all actions that do not declare that they only read: by a route with GET and none with
	// another method, or by a cache.
	ReadOnly bool
	// Resources offers what actions that match one of the patterns answer as resources: those that have a route with GET and whose input
	// comes from the path. The resource of the route "/orders/{id}" of the service orders is "orders://{id}", that of "/orders" is
	// "orders://", and that of "/shop/news" is "orders://shop/news". Default: none.
	Resources []string
	// Prompts offers the files *.md at the top of a file system, such as an embed.FS, as prompts that users choose. The name of a prompt
	// is that of its file without ".md", its text is a template of package text/template, and its arguments are the fields of that:
	//
	//	---
	//	title: Where is the order?
	//	description: Finds out why an order is late.
	//	---
	//	Look up the order {{.id}} with orders_get and tell the customer {{if .name}}{{.name}} {{end}}what it waits for.
	//
	// An argument that stands outside of all conditions is required. The head between the lines "---" may be left out. Default: none.
	Prompts fs.FS
	// Instructions tells models what the tools are for and how they belong together. Clients may add the text to their prompt.
	Instructions string
	// PageSize is the most tools, resources or prompts in one answer to a client that lists them. Default: 100.
	PageSize int
	// MaxSessions bounds how many sessions of clients of the revisions before 2026-07-28 are kept. One more ends the session
	// that was unused for the longest; its client begins a new one. An unused session ends after an hour. Default: 1000.
	MaxSessions int
	// OAuthServers are the issuers that give tokens for OAuthResource, the URL of the MCP endpoint as clients write it, https://api.example.com/mcp.
	// With them the server is a protected resource of OAuth 2.1: clients that come without a token find out where to get one. It answers with its
	// metadata (RFC 9728) at /.well-known/oauth-protected-resource and the path of the resource, names that address in the answer 401, and answers 403
	// with the scopes that are missing where the caller has none of an action's roles. Default: none. ServeStdio has no use for them.
	//
	// It checks no token itself: Auth of web.Config with auth.JWT does, whose Audiences should name the resource, so that tokens for other servers
	// are refused (RFC 8707).
	OAuthServers  []string
	OAuthResource string
	// OAuthScopes are the scopes that a client asks for first, such as "orders:read": the metadata and the answer 401 name them. There are
	// authorization servers that give no token to a client that asks for no scope. Default: none.
	OAuthScopes []string
}

// config is a Config as the server works with it.
type config struct {
	Config
	prompts []*prompt
	oauth   *protected // nil for none
	problem error
}

func newConfig(from Config) config {
	c := config{Config: from}
	c.PageSize, c.MaxSessions = cmp.Or(from.PageSize, 100), cmp.Or(from.MaxSessions, 1000)
	var problems []error
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("mcp.Config: "+format, args...))
	}
	for _, p := range slices.Concat(c.Tools, c.Resources) {
		if err := names.CheckPattern(p); err != nil {
			problem("Tools and Resources: %w", err)
		}
	}
	if c.PageSize < 1 || c.MaxSessions < 1 {
		problem("PageSize %d, MaxSessions %d: want at least 1", c.PageSize, c.MaxSessions)
	}
	var err error
	if from.Prompts != nil {
		if c.prompts, err = readPrompts(from.Prompts); err != nil {
			problem("Prompts: %w", err)
		}
	}
	if from.OAuthResource != "" || len(from.OAuthServers) > 0 || len(from.OAuthScopes) > 0 {
		u, err := url.Parse(from.OAuthResource)
		if err != nil || u.Host == "" || u.Fragment != "" || u.RawQuery != "" || (u.Scheme != "https" && u.Scheme != "http") {
			problem("OAuthResource %q: want the URL of the endpoint, such as https://api.example.com/mcp", from.OAuthResource)
		} else {
			u.Path = strings.TrimSuffix(u.Path, "/")
			c.oauth = &protected{resource: u, servers: from.OAuthServers, scopes: from.OAuthScopes}
		}
		if len(from.OAuthServers) == 0 {
			problem("OAuthServers: name at least one authorization server, such as https://login.example.com")
		}
		for _, scope := range from.OAuthScopes {
			if !isScope(scope) {
				problem("OAuthScopes %q: want scopes of OAuth, one each, without spaces and quotes", scope)
			}
		}
	}
	c.problem = errors.Join(problems...)
	return c
}

// At serves the Model Context Protocol at a path, such as "/mcp", for the actions that Tools and Resources of the settings name. It is an option of
// sabir.HTTP: callers authenticate as the server's options say, and pages of other sites are refused. The size of a request is
// bounded by BodyLimit of web.Config.
func At(path string, settings Config) gateway.HTTPOption {
	c := newConfig(settings)
	mounted := web.Mounted(path, func(site web.Site) (http.Handler, error) {
		if c.problem != nil {
			return nil, c.problem
		}
		return newServer(site, c), nil
	})
	return func(http *httpaccess.Config) {
		mounted(http)
		if c.oauth != nil {
			c.oauth.mount(http)
		}
	}
}
