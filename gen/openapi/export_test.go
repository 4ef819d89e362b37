package openapi

import (
	"net/http"

	"github.com/sabir-go/sabir/web"
)

// Mounted is the handler that At mounts.
func Mounted(prefix string, site web.Site, list ...Option) (http.Handler, error) {
	var o options
	for _, option := range list {
		option(&o)
	}
	return o.handler(prefix, site)
}
