package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/internal/principal"
)

// maxDescription bounds the description of an API, in bytes. One action takes about a thousand.
const maxDescription = 64 << 20

// describedAPI gets a description from a URL, a file or stdin; without a source from the node or the cluster that the flags
// name.
func (c *cli) describedAPI(ctx context.Context, source string) (api.API, error) {
	switch {
	case source == "-":
		return readDescription(untilDone(ctx, c.stdin), "stdin")
	case strings.HasPrefix(source, "http://"), strings.HasPrefix(source, "https://"):
		return c.fetchDescription(ctx, source)
	case source != "":
		f, err := os.Open(source)
		if err != nil {
			return api.API{}, usagef("the description cannot be read: %v", err)
		}
		defer f.Close()
		return readDescription(f, source)
	}
	joined, err := c.joins()
	if err != nil {
		return api.API{}, err
	}
	if joined && len(c.headers) > 0 {
		return api.API{}, usagef("--header is for descriptions over HTTP, and --join asks a cluster")
	}
	if joined {
		return c.describeCluster(ctx)
	}
	address := c.address()
	switch {
	case strings.Contains(address, "://"):
	case strings.HasPrefix(address, ":"):
		address = "http://127.0.0.1" + address
	default:
		address = "http://" + address
	}
	return c.fetchDescription(ctx, address)
}

// readDescription reads a description.
func readDescription(r io.Reader, name string) (a api.API, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxDescription+1))
	if errors.Is(err, context.Canceled) {
		return a, err
	}
	if err != nil {
		return a, usagef("the description in %s cannot be read: %v", name, err)
	}
	if len(text) > maxDescription {
		return a, usagef("the description in %s is larger than %d MiB", name, maxDescription>>20)
	}
	var other struct {
		OpenAPI string           `json:"openapi"`
		Swagger string           `json:"swagger"` // OpenAPI before version 3
		Actions *json.RawMessage `json:"actions"`
	}
	if err := json.Unmarshal(text, &other); err != nil {
		return a, usagef("%s has no description of an API: %v", name, err)
	}
	switch { // what the document is, before its members are read: other kinds have some of the same names
	case other.OpenAPI != "" || other.Swagger != "":
		return a, usagef("%s is an OpenAPI document; want the node's own description, which is at /$api, and which sabir gen api writes", name)
	case other.Actions == nil:
		return a, usagef(`%s has no description of an API: it has no "actions"; a node gives one at /$api, and sabir gen api writes it`, name)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, usagef("%s has no description of an API: %v", name, err)
	}
	return a, nil
}

// fetchDescription asks a node over HTTP.
func (c *cli) fetchDescription(ctx context.Context, address string) (a api.API, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return a, usagef("%q is no address of a node: want http://HOST:PORT", address)
	}
	where := strings.TrimSuffix(address, "/")
	if !strings.HasSuffix(where, "/$api") {
		where += "/$api"
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return a, usagef("%v", err)
	}
	if key := c.httpKey(); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if err := addHeaders(request, c.headers); err != nil {
		return a, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport, CheckRedirect: refuseRedirect}).Do(request)
	if err != nil {
		return a, sabir.Errorf(sabir.CodeUnavailable, sabir.ErrServiceUnavailable.Name, "no node answers at %s: %w", address, errors.Unwrap(err)).AsRetryable()
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return a, refusal(where, response)
	}
	a, err = readDescription(response.Body, where)
	if e, ok := errors.AsType[*usageError](err); ok {
		return a, failf("%s", e.text) // an error in the node's answer is not the caller's mistake
	}
	return a, err
}

// addHeaders adds headers that are given as "Name: value". Its errors do not repeat values, which are often secret.
func addHeaders(request *http.Request, headers []string) error {
	replaced := make(map[string]bool)
	for i, header := range headers {
		name, value, ok := strings.Cut(header, ":")
		if !ok || !httpguts.ValidHeaderFieldName(name) {
			return usagef("--header number %d is no header: want \"Name: value\"", i+1)
		}
		value = strings.TrimSpace(value)
		if !httpguts.ValidHeaderFieldValue(value) {
			return usagef("the value of the header %s has a byte that no header may have", name)
		}
		if name = http.CanonicalHeaderKey(name); name == "Host" {
			request.Host = value
			continue
		}
		if !replaced[name] {
			request.Header.Del(name)
		}
		replaced[name] = true
		request.Header.Add(name, value)
	}
	return nil
}

// refuseRedirect keeps the key and the headers from going elsewhere.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// refusal is the error that a node answered.
func refusal(where string, response *http.Response) error {
	var e sabir.Error
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && strings.HasPrefix(response.Header.Get("Content-Type"), "application/problem+json") && json.Unmarshal(text, &e) == nil && e.Message != "" {
		return &e
	}
	return failf("%s answered %s: is that a node of Sabir, of this version?", where, response.Status)
}

// describeCluster asks the nodes of a cluster for the descriptions of their actions.
func (c *cli) describeCluster(ctx context.Context) (api.API, error) {
	g, err := c.joinCluster(ctx)
	if err != nil {
		return api.API{}, err
	}
	defer g.Close()
	var failed error
	frame := api.API{Title: "cluster", Version: api.NoVersion, Actions: []api.Action{}}
	described, err := api.Of(frame, g.node.Actions(), api.Sources{
		Place: func(a *sabir.Action, _ *api.Action) bool {
			return a.Public() && !hidden(a.Service, false)
		},
		Lookup: func(a *sabir.Action) (description.Document, bool) {
			d, err := c.describeAction(ctx, g, a.Name)
			if err != nil {
				failed = err
			}
			return d, err == nil
		},
		Scopes: principal.ScopesKey,
	})
	if failed != nil {
		return api.API{}, failed
	}
	if err != nil {
		return api.API{}, failf("%w", err)
	}
	if err := c.describeMessages(ctx, g, &described); err != nil {
		return api.API{}, err
	}
	if len(described.Actions)+len(described.Messages) == 0 {
		return api.API{}, failf("the cluster at %s offers no public action, and no service of it sends or receives messages", g.address)
	}
	return described, nil
}

// describeMessages adds the events and channels of the cluster's services, each as the first of its nodes describes it.
func (c *cli) describeMessages(ctx context.Context, g *clusterClient, described *api.API) error {
	described.AddMessages(nil, nil)
	asked := make(map[string]bool)
	for _, s := range g.node.Services() {
		if asked[s.Name] || hidden(s.Name, false) || s.Node == g.node.ID() {
			continue
		}
		asked[s.Name] = true
		d, err := c.describeOn(ctx, g, s.Node, description.Request{Service: s.Name})
		if err != nil {
			return err
		}
		described.AddMessages(d.Messages, d.Defs)
	}
	return nil
}

// describeAction asks a node that has the action.
func (c *cli) describeAction(ctx context.Context, g *clusterClient, action string) (d description.Document, err error) {
	service := action[:strings.LastIndex(action, ".")]
	for _, s := range g.node.Services() {
		if s.Name != service {
			continue
		}
		return c.describeOn(ctx, g, s.Node, description.Request{Action: action})
	}
	return d, failf("no node offers %s any more", action)
}

// describeOn asks one node for a description.
func (c *cli) describeOn(ctx context.Context, g *clusterClient, node string, of description.Request) (d description.Document, err error) {
	input, err := json.Marshal(of)
	if err != nil {
		return d, err
	}
	at := *g
	at.to = node
	answer, err := c.ask(ctx, &at, "$node.api", input)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(answer, &d)
}
