package web

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
)

// translator is a mounted handler that calls actions for its clients, as one for another protocol does.
type translator struct {
	Site
	began, stopped chan struct{}
}

func (h *translator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/other/endless" {
		close(h.began)
		select {
		case <-h.stopped:
		case <-r.Context().Done():
		}
		return
	}
	p, _ := auth.FromContext(r.Context())
	w.Header().Set("X-Caller", p.Subject)
	own := r.Clone(r.Context())
	own.URL.Path, own.Method = "/vault/open", http.MethodPost
	h.Handler.ServeHTTP(w, own)
}

func (h *translator) Challenge(*http.Request) string { return `Bearer realm="other"` }

func (h *translator) Stop(context.Context) error {
	close(h.stopped)
	return nil
}

func startTranslator(t *testing.T) (node *sabir.Node, base string, began chan struct{}) {
	t.Helper()
	vault := sabir.NewService("vault")
	sabir.Handle(vault, "open", func(ctx context.Context, _ sabir.Empty) (string, error) {
		p, _ := auth.FromContext(ctx)
		return p.Subject, nil
	}, sabir.Use(auth.Require("keeper")))
	began = make(chan struct{})
	keys := &auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada", Roles: []string{"keeper"}}, "key-of-bob-0123456789": {Subject: "bob"}}}
	node = start(t, sabir.Serve(vault), sabir.HTTP(":0", With(Config{Auth: []auth.Authenticator{keys}}), Mounted("/other", func(site Site) (http.Handler, error) {
		return &translator{site, began, make(chan struct{})}, nil
	})))
	return node, "http://" + node.HTTPAddr(), began
}

func TestAMountedHandlerKnowsItsCallerAndCallsActionsForIt(t *testing.T) {
	_, base, _ := startTranslator(t)
	for key, want := range map[string]struct {
		status int
		caller string
	}{"key-of-ada-0123456789": {200, "ada"}, "key-of-bob-0123456789": {403, "bob"}} {
		got := post(t, base+"/other", `{}`, "X-Api-Key: "+key)
		if got.status != want.status || got.header.Get("X-Caller") != want.caller {
			t.Errorf("%s: %d %q %s", want.caller, got.status, got.header.Get("X-Caller"), got.body)
		}
	}
}

func TestAMountedHandlerSaysHowToAuthenticate(t *testing.T) {
	_, base, _ := startTranslator(t)
	for path, want := range map[string]bool{"/other": true, "/vault/open": false} {
		got := post(t, base+path, `{}`)
		if challenged := strings.Join(got.header.Values("WWW-Authenticate"), ";") == `Bearer realm="other"`; got.status != 401 || challenged != want {
			t.Errorf("%s: %d %q", path, got.status, got.header.Values("WWW-Authenticate"))
		}
	}
}

func TestAMountedHandlerEndsWhatIsEndlessWhenTheNodeStops(t *testing.T) {
	node, base, began := startTranslator(t)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	answered := make(chan error, 1)
	r, err := http.NewRequestWithContext(ctx, "POST", base+"/other/endless", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", "key-of-ada-0123456789")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	go func() {
		response, err := transport.RoundTrip(r)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
		answered <- err
	}()
	<-began
	if err := node.Stop(ctx); err != nil {
		t.Error(err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
