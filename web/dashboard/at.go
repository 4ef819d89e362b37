package dashboard

import (
	"net/http"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web"
)

// At puts the dashboard under a path of the node's HTTP server, such as "/dashboard". By default there is none.
//
// Where other machines can reach the server, or where it authenticates callers, as one behind a proxy does, the node starts only if the
// server or the dashboard has a key of at least 16 characters; a user that logs in with it sees all that the dashboard shows and can call the cluster's public actions, see
// [ReadOnly].
func At(prefix string, options ...Option) gateway.HTTPOption {
	return web.Mounted(prefix, func(site web.Site) (http.Handler, error) {
		c := config{guarded: !site.Loopback, client: site.Client}
		for _, o := range options {
			o(&c)
		}
		if !c.ownKey {
			c.keys = site.Keys
		}
		return newDashboard(site.Node, prefix, c)
	})
}
