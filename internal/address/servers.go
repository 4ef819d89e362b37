package address

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Servers reads the hosts of an address: one, or several with commas between them, each with a port or without. It returns
// them as [net.Dialer] wants them, "host:port". An empty host and "localhost" mean 127.0.0.1 (RFC 6761, section 6.3).
func Servers(hosts, defaultPort string) (servers []string, err error) {
	for text := range strings.SplitSeq(hosts, ",") {
		server, err := server(text, defaultPort)
		if err != nil {
			return nil, fmt.Errorf("has the server %q: %w", text, err)
		}
		servers = append(servers, server)
	}
	return servers, nil
}

func server(text, defaultPort string) (string, error) {
	host, port, err := HostPort(text, defaultPort)
	if err != nil {
		return "", err
	}
	if port == 0 {
		return "", fmt.Errorf("the port 0 is only for listening")
	}
	if host == "" || strings.EqualFold(host, "localhost") {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), nil
}

// HostPort takes apart "host", "host:port", ":port", "[v6]" and "[v6]:port". The host may be empty where there is a port.
func HostPort(text, defaultPort string) (host string, port int, err error) {
	fault := fmt.Errorf("want host or host:port")
	if text == "" || strings.ContainsAny(text, "/?#@, ") {
		return "", 0, fault
	}
	u := url.URL{Host: text}
	host, number := u.Hostname(), u.Port()
	switch {
	case number == "" && !isHost(text) && text != "["+host+"]":
		return "", 0, fault // such as "host:" and "host:name"
	case host != "" && !isHost(host), strings.HasPrefix(text, "[") != strings.Contains(host, ":"):
		return "", 0, fault
	case number == "":
		number = defaultPort
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("the port %q: want a number up to 65535", number)
	}
	return host, int(n), nil
}

// isHost reports whether the text is a name or an IP address. An IPv6 address may name a network interface (a zone) by the
// characters that RFC 6874 leaves as they are in a URL.
func isHost(text string) bool {
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return !strings.ContainsAny(text, ":[]%")
	}
	return !strings.ContainsFunc(ip.Zone(), func(r rune) bool { return !isPlain(r) && r != '.' && r != '~' })
}
