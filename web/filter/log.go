package filter

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/internal/subrequest"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

type accessLog struct {
	logger *slog.Logger
	query  bool
	caller bool
	began  [16]beganShard
}

const (
	maxLogged = 512  // bytes of a path or a query
	maxBegan  = 4096 // requests of a shard whose beginning is remembered
)

// Log writes a line for each answer: method, path, status, bytes of the body, time taken, address, request id, action. The
// level is Error from status 500 on, else Info. Headers, bodies and values of the query are not written; what is secret must
// not be in a path either. As the outermost filter it sees the answer as it was sent. Streams have no line.
type Log struct {
	Logger *slog.Logger // Default: slog.Default
	Query  bool         // writes the query as it was sent, which may hold secrets. By default, only the names of its fields are written
	Caller bool         // writes the caller: the subject of the principal
}

// Filter makes the filter.
func (f Log) Filter() exchange.Filter {
	l := &accessLog{logger: f.Logger, query: f.Query, caller: f.Caller}
	if l.logger == nil {
		l.logger = slog.Default()
	}
	return exchange.Filter{Name: "log", Before: l.before, After: l.after}
}

func (l *accessLog) before(x *exchange.Exchange) error {
	if l.logger.Enabled(context.Background(), slog.LevelError) {
		l.shard(x).begin(x)
	}
	return nil
}

func (l *accessLog) after(x *exchange.Exchange) {
	code, level := status(x), slog.LevelInfo
	if code >= 500 {
		level = slog.LevelError
	}
	if !l.logger.Enabled(context.Background(), level) {
		return
	}
	attrs := make([]slog.Attr, 0, 10)
	attrs = append(attrs, slog.String("method", x.Method), slog.String("path", shortened(x.Path)))
	if x.Query != "" {
		query := x.Query
		if !l.query {
			query = queryNames(query)
		}
		attrs = append(attrs, slog.String("query", shortened(query)))
	}
	attrs = append(attrs, slog.Int("status", code), slog.Int("bytes", len(x.Out)))
	if began, ok := l.shard(x).end(x); ok {
		attrs = append(attrs, slog.Float64("duration_ms", float64(time.Since(began).Microseconds())/1000))
	}
	if client := x.Client(); client.IsValid() {
		attrs = append(attrs, slog.String("from", client.String()))
	}
	attrs = append(attrs, slog.String("request_id", x.ID))
	if trace := subrequest.Trace(x.Header.Get("Traceparent")); trace != "" {
		attrs = append(attrs, slog.String("trace_id", trace))
	}
	if action := actionOf(x); action != nil {
		attrs = append(attrs, slog.String("action", action.Name))
	}
	if l.caller {
		if p, _ := x.Principal.(*auth.Principal); p != nil {
			attrs = append(attrs, slog.String("caller", p.Subject))
		}
	}
	l.logger.LogAttrs(context.Background(), level, "http", attrs...)
}

// shortened is a copy, since a log handler may write it later.
func shortened(s string) string {
	if len(s) > maxLogged {
		return s[:maxLogged] + "…"
	}
	return strings.Clone(s)
}

// queryNames is a query without its values.
func queryNames(query string) string {
	var names strings.Builder
	for pair := range strings.SplitSeq(query, "&") {
		name, _, valued := strings.Cut(pair, "=")
		if names.Len() > maxLogged {
			break
		}
		if names.Len() > 0 {
			names.WriteByte('&')
		}
		if !valued {
			name = "" // all of it may be a value
		}
		names.WriteString(name)
		names.WriteString("=…")
	}
	return names.String()
}

// beganShard remembers when requests began, by the address of their exchange, which no other has until the answer. An
// exchange that ends without After, because its answer is streamed, leaves its time behind until its address begins again
// or there are too many.
type beganShard struct {
	mu sync.Mutex
	at map[uintptr]time.Time
}

func (l *accessLog) shard(x *exchange.Exchange) *beganShard {
	return &l.began[uintptr(unsafe.Pointer(x))>>6%uintptr(len(l.began))]
}

func (s *beganShard) begin(x *exchange.Exchange) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil || len(s.at) >= maxBegan {
		s.at = make(map[uintptr]time.Time)
	}
	s.at[uintptr(unsafe.Pointer(x))] = now
}

func (s *beganShard) end(x *exchange.Exchange) (began time.Time, ok bool) {
	key := uintptr(unsafe.Pointer(x))
	s.mu.Lock()
	defer s.mu.Unlock()
	began, ok = s.at[key]
	delete(s.at, key)
	return began, ok
}
