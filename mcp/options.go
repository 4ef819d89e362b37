package mcp

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/web"
)

// Option is an option of [At].
type Option func(*config)

type config struct {
	tools, resources []string // patterns of actions
	readOnly         bool
	prompts          []*prompt
	instructions     string
	pageSize         int
	sessions         int
	oauth            *protected
	problems         []error
}

func newConfig(options []Option) config {
	c := config{pageSize: 100, sessions: 1000}
	for _, o := range options {
		o(&c)
	}
	return c
}

func (c *config) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf("mcp."+format, args...))
}

// At serves the Model Context Protocol at a path, such as "/mcp", for the actions that [Tools] and [Resources] name. It is an option of
// sabir.HTTP: callers authenticate as the server's options say, and pages of other sites are refused. The size of a request is
// bounded by web.BodyLimit.
func At(path string, options ...Option) gateway.HTTPOption {
	c := newConfig(options)
	mounted := web.Mounted(path, func(site web.Site) (http.Handler, error) {
		if err := errors.Join(c.problems...); err != nil {
			return nil, err
		}
		return newServer(site, c), nil
	})
	return func(http *gateway.HTTPConfig) {
		mounted(http)
		if c.oauth != nil {
			c.oauth.mount(http)
		}
	}
}

// Tools offers the actions and streams that match one of the patterns, such as "orders.*", "orders.get" or "**", in any version. Only
// what callers of the server can reach over HTTP is offered: public actions of the node, and those of other nodes that web.Forward
// names.
func Tools(patterns ...string) Option {
	return func(c *config) { c.tools = c.addPatterns("Tools", c.tools, patterns) }
}

// ReadOnly leaves out, of what [Tools] names, all actions that do not declare that they only read: by a route with GET and none with
// another method, or by a cache.
func ReadOnly() Option {
	return func(c *config) { c.readOnly = true }
}

// Resources offers what actions that match one of the patterns answer as resources: those that have a route with GET and whose input
// comes from the path. The resource of the route "/orders/{id}" of the service orders is "orders://{id}", that of "/orders" is
// "orders://", and that of "/shop/news" is "orders://shop/news".
func Resources(patterns ...string) Option {
	return func(c *config) { c.resources = c.addPatterns("Resources", c.resources, patterns) }
}

func (c *config) addPatterns(option string, all, patterns []string) []string {
	if len(patterns) == 0 {
		c.problem("%s: name the actions, such as \"orders.*\"", option)
	}
	for _, p := range patterns {
		if err := names.CheckPattern(p); err != nil {
			c.problem("%s: %w", option, err)
		}
	}
	return append(all, patterns...)
}

// Prompts offers the files *.md at the top of a file system, such as an embed.FS, as prompts that users choose. The name of a prompt
// is that of its file without ".md", its text is a template of package text/template, and its arguments are the fields of that:
//
//	---
//	title: Where is the order?
//	description: Finds out why an order is late.
//	---
//	Look up the order {{.id}} with orders_get and tell the customer {{if .name}}{{.name}} {{end}}what it waits for.
//
// An argument that stands outside of all conditions is required. The head between the lines "---" may be left out.
func Prompts(files fs.FS) Option {
	return func(c *config) {
		prompts, err := readPrompts(files)
		if err != nil {
			c.problem("Prompts: %w", err)
		}
		c.prompts = append(c.prompts, prompts...)
	}
}

// Instructions tells models what the tools are for and how they belong together. Clients may add the text to their prompt.
func Instructions(text string) Option {
	return func(c *config) { c.instructions = text }
}

// PageSize is the most tools, resources or prompts in one answer to a client that lists them. Default: 100.
func PageSize(n int) Option {
	return func(c *config) {
		if c.pageSize = n; n < 1 {
			c.problem("PageSize(%d): want at least 1", n)
		}
	}
}

// MaxSessions bounds how many sessions of clients of the revisions before 2026-07-28 are kept. Default: 1000. One more ends the session
// that was unused for the longest; its client begins a new one. An unused session ends after an hour.
func MaxSessions(n int) Option {
	return func(c *config) {
		if c.sessions = n; n < 1 {
			c.problem("MaxSessions(%d): want at least 1", n)
		}
	}
}

// OAuth makes the server a protected resource of OAuth 2.1: clients that come without a token find out where to get one. resource is
// the URL of the MCP endpoint as clients write it, https://api.example.com/mcp, and authorizationServers are the issuers that give
// tokens for it. The server answers with its metadata (RFC 9728) at /.well-known/oauth-protected-resource and the path of the resource,
// names that address in the answer 401, and answers 403 with the scopes that are missing where the caller has none of an action's roles.
//
// It checks no token itself: web.Auth with auth.JWT does, whose Audiences should name the resource, so that tokens for other servers
// are refused (RFC 8707).
func OAuth(resource string, authorizationServers ...string) Option {
	return func(c *config) {
		u, err := url.Parse(resource)
		if err != nil || u.Host == "" || u.Fragment != "" || u.RawQuery != "" || (u.Scheme != "https" && u.Scheme != "http") {
			c.problem("OAuth(%q): want the URL of the endpoint, such as https://api.example.com/mcp", resource)
			return
		}
		if len(authorizationServers) == 0 {
			c.problem("OAuth: name at least one authorization server, such as https://login.example.com")
		}
		u.Path = strings.TrimSuffix(u.Path, "/")
		c.oauth = &protected{resource: u, servers: authorizationServers}
	}
}
