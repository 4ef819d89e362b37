package rpc_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/rpc"
)

// answerOf starts a server of HTTP/1.1 and HTTP/2, and returns its URL.
func answerOf(t *testing.T, handle http.HandlerFunc) string {
	server := httptest.NewUnstartedServer(handle)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func TestAnAnswerOfAnotherProgramThanTheServerIsTheErrorOfItsStatus(t *testing.T) {
	described, _ := serve(t, []sabir.Servable{calc()})
	files := describe(t, described)
	for status, code := range map[int]sabir.Code{
		http.StatusUnauthorized: sabir.CodeUnauthenticated, http.StatusForbidden: sabir.CodePermissionDenied, http.StatusNotFound: sabir.CodeUnimplemented,
		http.StatusTooManyRequests: sabir.CodeUnavailable, http.StatusBadGateway: sabir.CodeUnavailable, http.StatusServiceUnavailable: sabir.CodeUnavailable,
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			eachWay(t, func(t *testing.T, f rpc.Foreign) {
				f.URL, f.Files = answerOf(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", status) }), files
				_, err := sabir.Call[text](t.Context(), dial(t, f), "calc.metadata", text{"x"})
				if e := sabir.AsError(err); e == nil || e.Code != code || errors.Is(err, sabir.ErrLinkLost) || !strings.Contains(e.Message, http.StatusText(status)) {
					t.Errorf("the error is %v", err)
				}
			})
		})
	}
}

func TestAServerWhoseReflectionIsNotFoundIsSaidToHaveNone(t *testing.T) {
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		if f.HTTP1 {
			t.Skip("reflection is a stream, which needs HTTP/2")
		}
		asked, lines := make(chan string, 100), make(chan string, 100)
		f.URL = answerOf(t, func(w http.ResponseWriter, r *http.Request) {
			asked <- r.URL.Path
			http.NotFound(w, r)
		})
		node := sabir.NewNode(rpc.Dial(f), sabir.Logger(slog.New(slog.NewTextHandler(lineWriter(lines), nil))))
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := node.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		if first, second := <-asked, <-asked; !strings.Contains(first, ".v1.") || !strings.Contains(second, ".v1alpha.") {
			t.Errorf("asked were %s and %s", first, second)
		}
		for line := range lines {
			if !strings.Contains(line, "cannot be asked for what it has") {
				continue
			}
			if !strings.Contains(line, "it has no reflection, so give rpc.Foreign its Files") {
				t.Errorf("the log has %s", line)
			}
			break
		}
	})
}

// lineWriter hands on what is written at once.
type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	select {
	case w <- string(p):
	default: // nobody reads any more
	}
	return len(p), nil
}

func TestCredentialsForAForeignServerDoNotFollowItsRedirects(t *testing.T) {
	described, _ := serve(t, []sabir.Servable{calc()})
	files := describe(t, described)
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		other := answerOf(t, func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("another server was called, with the key %q", r.Header.Get("X-Api-Key"))
		})
		f.URL = answerOf(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
		f.Files, f.Header = files, http.Header{"X-Api-Key": {"secret"}}
		if _, err := sabir.Call[text](t.Context(), dial(t, f), "calc.metadata", text{"x"}); err == nil || !strings.Contains(err.Error(), "307") {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestAnAnswerThatCannotBeDecompressedIsNoMistakeOfTheCaller(t *testing.T) {
	described, _ := serve(t, []sabir.Servable{calc()})
	files := describe(t, described)
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		f.Files = files
		f.URL = answerOf(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
			if f.Protocol == "connect" {
				w.Header().Set("Content-Encoding", "gzip")
			}
			w.Header().Set("Grpc-Encoding", "gzip")
			_, _ = io.WriteString(w, "\x01\x00\x00\x00\x03abc")
		})
		if _, err := sabir.Call[text](t.Context(), dial(t, f), "calc.metadata", text{"x"}); sabir.AsError(err).Code != sabir.CodeInternal || !errors.Is(err, sabir.NewError(sabir.CodeInternal, errname.BadOutput, "")) {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestAStatusOfAForeignServerCountsMoreThanItsDetails(t *testing.T) {
	described, _ := serve(t, []sabir.Servable{calc()})
	files := describe(t, described)
	for what, c := range map[string]struct {
		status, details string
		code            sabir.Code
		text            string
	}{
		"details that are no base64":      {"5", "%", sabir.CodeNotFound, "none there: é"},
		"details that are no message":     {"5", "////", sabir.CodeNotFound, "none there: é"},
		"details without a code":          {"5", "EgFh", sabir.CodeNotFound, "none there: é"},
		"details of another code":         {"5", "CAYSAWE", sabir.CodeAlreadyExists, "a"},
		"a number that is no code":        {"261", "", sabir.CodeUnknown, "none there: é"},
		"a number that looks like no one": {"256", "", sabir.CodeUnknown, "none there: é"},
	} {
		t.Run(what, func(t *testing.T) {
			eachWay(t, func(t *testing.T, f rpc.Foreign) {
				if f.Protocol == "connect" {
					t.Skip("its errors are one document")
				}
				f.Files, f.URL = files, answerOf(t, func(w http.ResponseWriter, r *http.Request) {
					h := w.Header()
					h.Set("Content-Type", r.Header.Get("Content-Type"))
					h.Set("Grpc-Status", c.status)
					h.Set("Grpc-Message", "none there: %C3%A9")
					h.Set("Grpc-Status-Details-Bin", c.details)
				})
				node := dial(t, f)
				_, err := sabir.Call[text](t.Context(), node, "calc.metadata", text{"x"})
				if e := sabir.AsError(err); e.Code != c.code || e.Message != c.text {
					t.Errorf("the error of the call is %v: %v", e.Code, e)
				}
				if f.HTTP1 {
					return // streams need HTTP/2
				}
				for _, err := range sabir.CallStream[text](t.Context(), node, "calc.chat", text{"x"}) {
					if e := sabir.AsError(err); e == nil || e.Code != c.code || e.Message != c.text {
						t.Errorf("the error of the stream is %v", err)
					}
				}
			})
		})
	}
}
