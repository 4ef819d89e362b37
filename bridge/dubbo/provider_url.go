package dubbo

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The parameters of providers by which registries say something that the bridge heeds.
const (
	paramTag     = "dubbo.tag"
	paramWeight  = "weight"
	paramTimeout = "timeout"
	paramToken   = "token"
)

// reservedParameters are those that the bridge itself sets.
var reservedParameters = map[string]bool{"interface": true, "version": true, "group": true, "methods": true, "application": true, "side": true, "timestamp": true,
	"dubbo": true, "category": true, "protocol": true, "serialization": true, "prefer.serialization": true}

// maxProviderURL bounds what is read of one provider.
const maxProviderURL = 64 << 10

// providerURL holds what a registry says of a provider of one interface.
type providerURL struct {
	endpointAt
	key    key
	params map[string]string
}

// endpointAt is an address with the protocol that is spoken there.
type endpointAt struct {
	scheme  string
	address string // host:port
}

// parseProviderURL reads the URL of a provider. ok is false for one that is none, or that gets no calls: of another protocol, disabled, or of
// another category.
func parseProviderURL(text string) (p providerURL, ok bool, err error) {
	if len(text) > maxProviderURL {
		return p, false, fmt.Errorf("it has %d bytes: %d is the limit", len(text), maxProviderURL)
	}
	u, err := url.Parse(text)
	if err != nil {
		return p, false, err
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return p, false, err
	}
	p.params = make(map[string]string, len(query))
	for name, values := range query {
		p.params[name] = values[0]
	}
	if !isSpoken(u.Scheme) || !enabled(p.params) {
		return p, false, nil
	}
	p.scheme = u.Scheme
	if p.address, err = hostPort(u.Hostname(), u.Port()); err != nil {
		return p, false, err
	}
	name := p.params["interface"]
	if name == "" {
		name = strings.TrimPrefix(u.Path, "/")
	}
	p.key = keyOf(name, p.params["version"], p.params["group"])
	return p, true, nil
}

// isSpoken reports whether providers of a protocol can be called.
func isSpoken(scheme string) bool { return scheme == schemeDubbo || scheme == schemeTriple }

// enabled reports whether the parameters are of a provider that takes calls.
func enabled(params map[string]string) bool {
	if category := params["category"]; category != "" && category != "providers" {
		return false
	}
	return params["disabled"] != "true" && params["enabled"] != "false"
}

// hostPort checks an address that a registry names.
func hostPort(host, port string) (string, error) {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return "", fmt.Errorf("the port %q is none", port)
	}
	if host == "" || len(host) > 255 || strings.ContainsAny(host, "/ \t\r\n\x00") {
		return "", fmt.Errorf("the host %q is none", host)
	}
	if ip := net.ParseIP(host); ip != nil && (ip.IsUnspecified() || ip.IsMulticast()) {
		return "", errors.New("the host " + host + " is no address of a machine")
	}
	return net.JoinHostPort(host, strconv.FormatUint(number, 10)), nil
}

// weightless reports whether a provider is to get calls only where no other is there.
func weightless(params map[string]string) bool { return params[paramWeight] == "0" }

// namedTimeout is the time limit that a provider names for calls of the method, or for all; 0 for none.
func namedTimeout(params map[string]string, method string) time.Duration {
	for _, name := range []string{method + "." + paramTimeout, paramTimeout} {
		if ms, err := strconv.ParseInt(params[name], 10, 64); err == nil && ms > 0 {
			return time.Duration(min(ms, maxTimeout)) * time.Millisecond
		}
	}
	return 0
}

// labels are the parameters that listings show.
func labels(params map[string]string) map[string]string {
	kept := make(map[string]string)
	for _, name := range []string{"application", "release", "version", "group", paramTag, paramWeight, "warmup", paramTimeout, "timestamp"} {
		if value := params[name]; value != "" && len(value) <= 200 {
			kept[name] = value
		}
	}
	return kept
}
