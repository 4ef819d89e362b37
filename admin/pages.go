package admin

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpaccess"
)

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, status{Status: "ok"}) })
	mux.HandleFunc("GET /ready", s.ready)
	if s.metrics != nil {
		mux.Handle("GET /metrics", s.guard(s.metrics, s.openMetrics))
	}
	if s.profiler {
		mux.Handle("GET /debug/pprof/{profile...}", s.guard(http.HandlerFunc(serveProfile), false))
	}
	return s.ownHostOnly(mux)
}

// ownHostOnly answers requests for this machine's names only where no key is asked for. A web page can bind its own DNS name to
// 127.0.0.1 (DNS rebinding), and would read what browsers otherwise keep from it.
func (s *server) ownHostOnly(next http.Handler) http.Handler {
	if !s.where.Loopback() || !s.config.Keys.None() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !httpaccess.OwnHost(r.Host, s.where.Host) {
			answer(w, http.StatusForbidden, status{Status: "forbidden", Reason: "this address answers requests for names of this machine only"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// trusts reports whether the caller may see what the process does: it has the key or a certificate, or is on this machine.
func (s *server) trusts(r *http.Request) bool {
	switch {
	case httpaccess.DemandsCertificates(s.config.TLS):
		return true // the handshake has seen it
	case s.config.Keys.None():
		return s.where.Loopback()
	}
	return s.config.Keys.Opens(r.Header.Get("Authorization"))
}

// guard answers 401 to callers whom the server does not trust.
func (s *server) guard(next http.Handler, open bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !open && !s.trusts(r) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="sabir"`)
			answer(w, http.StatusUnauthorized, status{Status: "unauthorized", Reason: `this page wants a key: send it as "Authorization: Bearer <key>"`})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// status is the answer of a probe.
type status struct {
	Status string   `json:"status"`
	Failed []string `json:"failed,omitempty"` // the names of the checks that fail
	Reason string   `json:"reason,omitempty"`
}

// ready says why the node is not ready to callers that are trusted: errors of databases have addresses in them.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	err := s.node.Ready(r.Context())
	if err == nil {
		answer(w, http.StatusOK, status{Status: "ready"})
		return
	}
	not := status{Status: "not ready", Failed: httpaccess.FailedChecks(sabir.AsError(err).Data)}
	if s.trusts(r) {
		not.Reason = sabir.AsError(err).Message
	}
	answer(w, http.StatusServiceUnavailable, not)
}

func answer(w http.ResponseWriter, code int, body status) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	var text strings.Builder
	_ = json.NewEncoder(&text).Encode(body) // strings only
	_, _ = w.Write([]byte(text.String()))   // the caller may have gone
}
