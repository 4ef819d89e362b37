package mcp

import (
	"context"
	"io"
	"net/http"
	"slices"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web"
)

// ServeStdio serves one client over a pair of streams, a message on each line: with os.Stdin and os.Stdout a program is what a desktop client
// starts. Nothing else may be written to out. It returns nil when the client closes in, and the error of ctx when that ends; it closes
// both. The node must run.
//
// What Tools and Resources of the settings name is offered of the whole cluster, not of the node alone. The client needs no credentials, and calls
// as nobody: actions with auth.Require refuse it. OAuthServers and MaxSessions are for [At].
func ServeStdio(ctx context.Context, n *sabir.Node, in io.ReadCloser, out io.WriteCloser, settings Config) error {
	c := newConfig(settings)
	var s *server
	mounted := web.Mounted("/mcp", func(site web.Site) (http.Handler, error) {
		if c.problem != nil {
			return nil, c.problem
		}
		s = newServer(site, c)
		s.own = &http.Request{Host: "localhost", Header: make(http.Header)}
		return s, nil
	})
	http := []gateway.HTTPOption{mounted}
	if offered := slices.Concat(c.Tools, c.Resources); len(offered) > 0 {
		http = append(http, web.With(web.Config{Forward: offered}))
	}
	if _, err := web.Handler(n, http...); err != nil {
		return err
	}
	err := s.sdk.Run(ctx, &stdioTransport{in: in, out: out})
	if stopped := s.Stop(context.WithoutCancel(ctx)); err == nil {
		err = stopped
	}
	return err
}
