package rpc

import (
	"context"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir"
)

// giveAnswer passes on what a server answered beside the message to whoever takes it: the caller's gateway, or gateway.WithAnswer. What
// HTTP cannot carry is left out.
func giveAnswer(ctx context.Context, header, trailer http.Header) {
	eachField(header, func(name, value string) { _ = sabir.SetHeader(ctx, name, value) })
	eachField(trailer, func(name, value string) { _ = sabir.SetTrailer(ctx, name, value) })
}

// eachField calls take with each field that is the server's own, in lower case and with its values in one.
func eachField(h http.Header, take func(name, value string)) {
	for name, values := range h {
		name = strings.ToLower(name)
		if isReserved(name) {
			continue
		}
		between := ", "
		if strings.HasSuffix(name, "-bin") {
			between = ","
		}
		take(name, strings.Join(values, between))
	}
}
