package kubernetes

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// account is the folder of a pod's service account.
const account = "/var/run/secrets/kubernetes.io/serviceaccount/"

// server is an API server, and how to show it who asks.
type server struct {
	base      *url.URL
	namespace string
	token     string // the file, "" for none
	client    *http.Client
}

// wanted is the form of a prefix and a namespace, which are parts of names (RFC 1123).
var wanted = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// parse reads the address of a store.
func parse(at *url.URL, config *tls.Config) (s server, prefix string, err error) {
	query := at.Query()
	for name := range query {
		if !slices.Contains([]string{"prefix", "token", "ca"}, name) {
			return s, "", fmt.Errorf("the address of Kubernetes has the part %q; there are prefix, token and ca", name)
		}
	}
	if at.User != nil || at.Fragment != "" {
		return s, "", errors.New("the address of Kubernetes has a user or a fragment: name the file of a token with ?token=")
	}
	s.namespace = strings.Trim(at.Path, "/")
	if s.namespace == "" {
		text, _ := os.ReadFile(account + "namespace")
		s.namespace = cmp.Or(strings.TrimSpace(string(text)), "default")
	}
	prefix = cmp.Or(query.Get("prefix"), "sabir")
	for what, name := range map[string]string{"namespace": s.namespace, "prefix": prefix} {
		if !wanted.MatchString(name) {
			return s, "", fmt.Errorf("the %s %.80q is none that Kubernetes takes: want a-z, 0-9 and '-', at most 63 of them", what, name)
		}
	}
	host := at.Host
	if host == "" {
		if os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
			return s, "", errors.New("kubernetes:// without a host is the API server of the pod that this process runs in, and KUBERNETES_SERVICE_HOST is not set: it does not run in one; name host:port, such as that of kubectl proxy, 127.0.0.1:8001")
		}
		host = net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), cmp.Or(os.Getenv("KUBERNETES_SERVICE_PORT"), "443"))
	}
	s.base = &url.URL{Scheme: "https", Host: host}
	if ip := net.ParseIP(at.Hostname()); ip.IsLoopback() && !query.Has("ca") && config == nil {
		s.base.Scheme = "http"
	}
	s.token = query.Get("token")
	if s.token == "" && at.Host == "" {
		s.token = account + "token"
	}
	transport := &http.Transport{TLSHandshakeTimeout: answerLimit, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true}
	transport.DialContext = (&net.Dialer{Timeout: answerLimit}).DialContext
	// HTTP/2 stays on a connection whatever becomes of the requests on it, so that one which carries nothing any more, as after a failover, is found by this only.
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: time.Second, PingTimeout: 2 * time.Second}
	if transport.TLSClientConfig = config; config == nil {
		file := query.Get("ca")
		if file == "" && at.Host == "" {
			file = account + "ca.crt"
		}
		if transport.TLSClientConfig, err = trusting(file); err != nil {
			return s, "", err
		}
	}
	s.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s, prefix, nil
}

// trusting is the configuration that takes certificates of the authority in a file, "" for those of the system.
func trusting(file string) (*tls.Config, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the certificates of the API server's authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("the file %s has no certificate in it", file)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

func (s *server) leases() string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + s.namespace + "/leases"
}

func (s *server) lease(name string) string { return s.leases() + "/" + name }

// request makes a request. The token is read each time, as Kubernetes replaces it within the hour.
func (s *server) request(ctx context.Context, method, path string, query url.Values, body io.Reader) (*http.Request, error) {
	to := *s.base
	to.Path, to.RawQuery = path, query.Encode()
	r, err := http.NewRequestWithContext(ctx, method, to.String(), body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	r.Header.Set("Accept", "application/json")
	if s.token != "" {
		token, err := os.ReadFile(s.token)
		if err != nil {
			return nil, fmt.Errorf("the token of the service account: %w", err)
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	return r, nil
}
