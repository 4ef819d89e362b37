package http

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	nethttp "net/http"
	"net/netip"
	"net/url"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// reach connects to the host of an address, through a proxy where the environment names one. way describes it in errors.
func reach(ctx context.Context, to *url.URL, config transport.Config) (raw net.Conn, way string, err error) {
	config.TLS = nil // which is for the end of the way
	proxy, err := nethttp.ProxyFromEnvironment(&nethttp.Request{URL: to})
	if err != nil {
		return nil, "", fmt.Errorf("the proxy in the environment cannot be used: %w", withoutAddress(err))
	}
	if proxy == nil {
		raw, err := dialTCP(ctx, to.Host, config)
		return raw, "", err
	}
	way = fmt.Sprintf(", through the proxy %s", proxy.Redacted())
	raw, err = throughProxy(ctx, proxy, to.Host, config)
	return raw, way, err
}

// withoutAddress is an error without the text of the address that it came from, which may hold a password.
func withoutAddress(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return errors.New("it is not a URL such as http://proxy:3128")
}

func dialTCP(ctx context.Context, host string, config transport.Config) (net.Conn, error) {
	tcp, to, err := socket("tcp", &url.URL{Host: host})
	if err != nil {
		return nil, err
	}
	return tcp.Dial(ctx, to, config)
}

// throughProxy has a proxy connect to the target, "host:port".
func throughProxy(ctx context.Context, proxy *url.URL, target string, config transport.Config) (net.Conn, error) {
	if proxy.Scheme != "http" && proxy.Scheme != "https" {
		return nil, fmt.Errorf("a proxy by %s:// is not supported: want http:// or https://", proxy.Scheme)
	}
	encrypted := proxy.Scheme == "https"
	config.Resolved = netip.Addr{} // of the target
	raw, err := dialTCP(ctx, driver{encrypted}.whole(proxy).Host, config)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { transports.Abort(raw) })
	defer stop()
	conn := raw
	if encrypted {
		settings := &tls.Config{ServerName: proxy.Hostname(), MinVersion: tls.VersionTLS12}
		encrypted := tls.Client(raw, settings)
		err = encrypted.HandshakeContext(ctx)
		conn = encrypted
	}
	if err == nil {
		err = connect(conn, proxy, target)
	}
	if err != nil {
		transports.Abort(raw)
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	return conn, nil
}

// connect is the method CONNECT (RFC 9110, section 9.3.6).
func connect(conn net.Conn, proxy *url.URL, target string) error {
	request := &nethttp.Request{Method: nethttp.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: nethttp.Header{}}
	request.Header.Set("User-Agent", "sabir")
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		request.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if err := request.Write(conn); err != nil {
		return err
	}
	// Nothing can be behind the answer: in TLS and in HTTP the client speaks first.
	reader := bufio.NewReaderSize(bounded(conn), 1024)
	answer, err := nethttp.ReadResponse(reader, request)
	if err != nil {
		return fmt.Errorf("the proxy's answer to CONNECT: %w", err)
	}
	if answer.StatusCode != nethttp.StatusOK {
		answer.Body.Close()
		return fmt.Errorf("the proxy answered CONNECT with %s", answer.Status)
	}
	if reader.Buffered() > 0 {
		return errors.New("the proxy sent something behind its answer to CONNECT")
	}
	return nil
}
