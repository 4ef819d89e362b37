package rpc

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"connectrpc.com/connect"

	"github.com/sabir-go/sabir"
)

// giveAnswer passes on what a server answered beside the message to whoever takes it: the caller's gateway, or gateway.WithAnswer. What
// HTTP cannot carry is left out.
func giveAnswer(ctx context.Context, header, trailer http.Header) {
	eachField(header, func(name, value string) { _ = sabir.Answer(ctx).SetHeader(name, value) })
	eachField(trailer, func(name, value string) { _ = sabir.Answer(ctx).SetTrailer(name, value) })
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

// saidStatus is the error that the status of a server names, where connect's client has another one: the details of the status cannot be read, or have no
// code. They count less than the code.
func saidStatus(err error) error {
	has, ok := errors.AsType[*connect.Error](err)
	if !ok || connect.IsWireError(err) && has.Code() != 0 {
		return err
	}
	code, bad := strconv.ParseUint(has.Meta().Get("Grpc-Status"), 10, 32)
	if bad != nil || code == 0 {
		return err
	}
	message := has.Meta().Get("Grpc-Message")
	if text, err := url.PathUnescape(message); err == nil {
		message = text
	}
	said := connect.NewWireError(connect.Code(code), errors.New(message))
	maps.Copy(said.Meta(), has.Meta())
	return said
}
