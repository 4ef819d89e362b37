package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/redact"
	"github.com/sabir-go/sabir/policy"
)

// Endpoint is an address to which events are sent.
type Endpoint struct {
	// ID tells it from other endpoints of a [Delivery]: it is kept with the events that wait, so that address and secret may change meanwhile. Of two
	// with one ID only the first gets events, and the log has an error.
	ID string
	// URL gets the events, with POST: "https://example.com/hooks".
	URL string
	// Secrets sign the requests by the rules of Standard Webhooks: "whsec_" and 24 to 64 random bytes as base64, at most four. While one is replaced,
	// both are here: a request has the signature of each, so that the receiver may change its own at any time. nil leaves requests unsigned.
	Secrets []string
	// Events are patterns of the names that a [Delivery] sends here, such as "orders.*". nil is all.
	Events []string
	// Binary sends a single event in the binary form, with its attributes as headers. A signature does not cover these, so [Receive] takes no signed event
	// in this form.
	Binary bool
}

// Client sends events to endpoints. The zero Client is ready; it may be used by many goroutines at once, and must not be copied then.
//
// It connects to public addresses only: what a URL's name stands for is looked at when the connection is made, so that nobody who may name a URL
// reaches the private network, this machine, or the metadata of a cloud. It follows no redirects, goes through no proxy, and reads no more of an
// answer than its head.
type Client struct {
	// Allow are networks that may be called although they are not public, such as 10.20.0.0/16.
	Allow []netip.Prefix
	// Timeout bounds a delivery as a whole. Default: 15 seconds.
	Timeout time.Duration
}

// The bounds of an answer.
const (
	defaultTimeout = 15 * time.Second
	maxAnswerHead  = 32 << 10
)

// Send sends events to an endpoint in one request: several are a batch. nil means that the receiver has taken them, with a status from 200 to
// 299. The error of a receiver that wants no more (410) or will never read them (400, 413, 415, 422), and that of an address that may not be called, is one
// of [channel.Reject], so that a consumer of a channel may return it: the event becomes a dead letter. Other errors carry what the receiver's Retry-After
// asks for as [policy.RetryAfter].
func (c *Client) Send(ctx context.Context, to Endpoint, events ...Event) error {
	if len(events) == 0 {
		return nil
	}
	request, err := newRequest(to, events)
	if err != nil {
		return channel.Reject(err)
	}
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// Each delivery has a connection of its own: endpoints are many, and events for one of them seldom come at once.
	transport := &http.Transport{DialContext: (&net.Dialer{Control: c.control}).DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: maxAnswerHead, DisableCompression: true}
	answer, err := transport.RoundTrip(request.WithContext(ctx))
	if refused, ok := errors.AsType[*refusedAddress](err); ok {
		return channel.Reject(refused)
	}
	if err != nil {
		return sabir.Errorf(sabir.CodeUnavailable, sabir.ErrServiceUnavailable.Name, "the webhook %s cannot be delivered: %w", to.name(), withoutURL(err))
	}
	answer.Body.Close()
	switch status := answer.StatusCode; {
	case status >= 200 && status <= 299:
		return nil
	case slices.Contains([]int{http.StatusBadRequest, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity}, status):
		return channel.Reject(fmt.Errorf("the webhook %s answers %d, after which it is not tried again", to.name(), status))
	default:
		err := sabir.Errorf(sabir.CodeUnavailable, sabir.ErrServiceUnavailable.Name, "the webhook %s answers %d", to.name(), status)
		if after := retryAfter(answer.Header.Get("Retry-After")); after > 0 {
			err = err.WithData(policy.RetryAfter{Seconds: after})
		}
		return err
	}
}

// retryAfter reads the header of that name, seconds or a date; 0 for none.
func retryAfter(text string) (seconds float64) {
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return float64(n)
	}
	if at, err := http.ParseTime(text); err == nil {
		return time.Until(at).Seconds()
	}
	return 0
}

// name is the endpoint in errors and logs: its ID or, where it has none, its host.
func (e *Endpoint) name() string { return cmp.Or(e.ID, e.host(), "without an ID") }

// withoutQuery is the URL without what is a secret in most that have one. It tells two endpoints on one host apart.
func (e *Endpoint) withoutQuery() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return redact.Hidden
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// host leaves out path and query of the URL, which may be secrets.
func (e *Endpoint) host() string {
	if u, err := url.Parse(e.URL); err == nil {
		return u.Host
	}
	return ""
}

// withoutURL leaves the address out of an error, since it may hold a secret.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func newRequest(to Endpoint, events []Event) (*http.Request, error) {
	u, err := url.Parse(to.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return nil, fmt.Errorf("the webhook %s has no URL of the form https://host/path", to.name())
	}
	header := http.Header{"User-Agent": {"sabir-webhook"}}
	body, err := writeEvents(header, to.Binary, events)
	if err != nil {
		return nil, err
	}
	if len(to.Secrets) > 0 {
		keys, err := keysOf(to.Secrets)
		if err != nil {
			return nil, fmt.Errorf("the webhook %s: %w", to.name(), err)
		}
		signed(header, keys, events[0].ID, time.Now(), body) // the same id in each attempt
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the webhook %s has no URL of the form https://host/path", to.name())
	}
	request.Header = header
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return request, nil
}

// refusedAddress is the error of an address that is not public.
type refusedAddress struct{ at netip.Addr }

func (r *refusedAddress) Error() string {
	return fmt.Sprintf("the webhook leads to %s, which is no public address: allow its network in webhook.Client, if that is meant", r.at)
}

// control looks at the address of a connection before it is made, after names were resolved.
func (c *Client) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return &refusedAddress{}
	}
	ip := at.Addr().Unmap().WithZone("")
	if public(ip) || slices.ContainsFunc(c.Allow, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return nil
	}
	return &refusedAddress{ip}
}

// notPublic are the networks of IANA's special-purpose registries that netip has no method for, and those that lead to addresses of IPv4.
var notPublic = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10")

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// public reports whether the address is one of the internet.
func public(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return false
	}
	return !slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(ip) })
}
