package rpc

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/inbound"
	"github.com/sabir-go/sabir/internal/principal"
)

// reserved are headers that are not metadata: of the protocols, of HTTP and its proxies, of browsers, and credentials, which stay on
// the node that checks them.
var reserved = map[string]bool{
	"te": true, "trailer": true, "host": true, "connection": true, "keep-alive": true, "upgrade": true, "transfer-encoding": true, "expect": true,
	"user-agent": true, "x-user-agent": true, "x-grpc-web": true, "date": true, "server": true, "via": true, "forwarded": true, "x-real-ip": true,
	"authorization": true, "cookie": true, "set-cookie": true, "x-api-key": true, "www-authenticate": true, "origin": true, "referer": true,
	"cache-control": true, "pragma": true, "priority": true, "dnt": true, "range": true, "vary": true, "status": true,
	"x-content-type-options": true, "x-request-id": true, "x-request-timeout": true,
}

// isReserved reports whether a header, in lower case, is none of the metadata of callers and handlers.
func isReserved(name string) bool {
	if reserved[name] {
		return true
	}
	for _, prefix := range []string{"grpc-", "connect-", "content-", "accept", "sec-", "proxy-", "access-control-", "if-", "x-forwarded-", "x-meta-", "x-envoy-", "sabir", ":"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == principal.MetadataKey || name == admission.MetadataKey
}

// addMetadata adds the headers of a caller to what the server has read as metadata already. A call with more than there may be fails: its handler
// must not take a part for the whole.
func addMetadata(in *gateway.Inbound, header http.Header) error {
	var size int
	pairs := make(map[string]string, len(in.Metadata)) // the server's may be shared with other calls
	for key, value := range in.Metadata {
		pairs[key] = value
		size += len(key) + len(value)
	}
	for name, values := range header {
		key, value := strings.ToLower(name), strings.Join(values, ", ")
		if strings.HasSuffix(key, "-bin") {
			value = strings.Join(values, ",") // of which base64 knows no spaces
		}
		if _, known := pairs[key]; known || isReserved(key) || !utf8.ValidString(value) {
			continue
		}
		size += len(key) + len(value)
		pairs[key] = value
	}
	if err := inbound.CheckMetadata(len(pairs), size); err != nil {
		return err
	}
	if len(pairs) > 0 {
		in.Metadata = pairs
	}
	return nil
}
