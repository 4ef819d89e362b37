package mcp

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
)

// protected is the endpoint as a protected resource of OAuth.
type protected struct {
	resource *url.URL
	servers  []string
	scopes   []string // those to ask for first
}

// metadataPath returns the path of the metadata: the well-known part comes before the path of the resource (RFC 9728, section 3.1).
func (p *protected) metadataPath() string {
	return "/.well-known/oauth-protected-resource" + p.resource.Path
}

func (p *protected) metadataURL() string {
	return p.resource.Scheme + "://" + p.resource.Host + p.metadataPath()
}

// mount serves the metadata, which clients read before they have a token.
func (p *protected) mount(c *httpaccess.Config) {
	web.Mounted(p.metadataPath(), func(site web.Site) (http.Handler, error) {
		return publicHandler{sdkauth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
			Resource: p.resource.String(), AuthorizationServers: p.servers, ScopesSupported: p.scopes, BearerMethodsSupported: []string{"header"}})}, nil
	})(c)
}

// publicHandler is a handler that every client may read from.
type publicHandler struct{ http.Handler }

func (publicHandler) Public() bool { return true }

// first is the WWW-Authenticate of the answer to a client without a token.
func (p *protected) first() string {
	if len(p.scopes) == 0 {
		return p.challenge()
	}
	return p.challenge(`scope="` + strings.Join(p.scopes, " ") + `"`)
}

// challenge is the WWW-Authenticate of an answer, with further parameters such as the error (RFC 6750, section 3).
func (p *protected) challenge(parameters ...string) string {
	return "Bearer " + strings.Join(append(parameters, `resource_metadata="`+p.metadataURL()+`"`), ", ")
}

// refuse answers a call that the caller may not make at all, so that the client can get a token that allows it: 401 without any, 403
// with one that lacks the scopes. It reports false for other calls, whose action decides.
func (p *protected) refuse(w http.ResponseWriter, r *http.Request, a *api.Action) bool {
	if a.Scopes == nil {
		return false
	}
	caller, known := auth.FromContext(r.Context())
	switch {
	case !known:
		w.Header().Set("WWW-Authenticate", p.first())
		http.Error(w, "this tool needs a caller who is signed in", http.StatusUnauthorized)
		return true
	case len(a.Scopes) == 0 || caller.HasAny(a.Scopes...):
		return false
	}
	// With those that the caller has, since the next token has these only: clients would ask for a token before each call that needs another one.
	scopes := slices.DeleteFunc(missingBehind(caller.Roles, a.Scopes), func(scope string) bool { return !isScope(scope) })
	w.Header().Set("WWW-Authenticate", p.challenge(`error="insufficient_scope"`, `scope="`+strings.Join(scopes, " ")+`"`))
	http.Error(w, "this tool needs one of the scopes "+strings.Join(a.Scopes, ", "), http.StatusForbidden)
	return true
}

// missingBehind is the scopes that a caller has, and behind them those that it lacks.
func missingBehind(has, wanted []string) []string {
	all := slices.Clone(has)
	for _, scope := range wanted {
		if !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return all
}

// isScope reports whether a text can be a scope of OAuth (RFC 6749, section 3.3), which roles need not be.
func isScope(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}
