package dashboard

import (
	"fmt"
	"net/http"
	"time"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/web"
)

// At puts the dashboard under a path of the node's HTTP server, such as "/dashboard". By default there is none.
//
// Where other machines can reach the server, or where it authenticates callers, as one behind a proxy does, the node starts only if the
// server or the dashboard has a key of at least 16 characters; a user that logs in with it sees all that the dashboard shows and can call the cluster's public actions, see
// ReadOnly of [Config]. The settings may be left out.
func At(prefix string, settings ...Config) gateway.HTTPOption {
	return web.Mounted(prefix, func(site web.Site) (http.Handler, error) {
		c := config{guarded: !site.Loopback, client: site.Client, keys: site.Keys}
		switch len(settings) {
		case 0:
		case 1:
			c.readOnly, c.every = settings[0].ReadOnly, settings[0].every()
			if key := string(settings[0].Key.Bytes()); key != "" {
				c.keys = httpaccess.NewKeys(key)
			}
		default:
			return nil, fmt.Errorf("dashboard: %d structs of settings, and each would undo the others: give one", len(settings))
		}
		return newDashboard(site.Node, prefix, c)
	})
}

// every returns the interval; 0 for the default.
func (c Config) every() time.Duration {
	if c.Every == 0 {
		return 0
	}
	return max(c.Every, 100*time.Millisecond)
}
