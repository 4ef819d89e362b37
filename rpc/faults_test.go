package rpc_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/rpc"
)

// frames sends a body in the form of one protocol over HTTP/2 and returns gRPC's status, or the last message of Connect.
func frames(t *testing.T, connection *http.Client, url, media, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", media)
	request.Header.Set("Te", "trailers")
	answer, err := connection.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	status := answer.Header.Get("Grpc-Status") + answer.Trailer.Get("Grpc-Status")
	return "grpc-status:" + status + " " + strings.ReplaceAll(strings.ToLower(string(text)), "status: ", "status:") // gRPC-Web has it in the body
}

// A frame that says that it has a gigabyte, and others that are none, are errors of their call alone.
func TestFramesThatAreMalformedOrHugeEndTheirCallOnly(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	connection := client(t, false)
	add := connect.NewClient[sumIn, sumOut](connection, url+"/test.v1.Calc/Add", connect.WithCodec(structs{}), connect.WithGRPC())
	const huge = "\x00\x40\x00\x00\x00\x08\x01"
	for about, test := range map[string]struct{ method, media, body, answer string }{
		"a gigabyte over gRPC":          {"Add", "application/grpc", huge, "grpc-status:8"},
		"a gigabyte over gRPC-Web":      {"Add", "application/grpc-web", huge, "grpc-status:8"},
		"a gigabyte over Connect":       {"Count", "application/connect+proto", huge, "resource_exhausted"},
		"half a head":                   {"Add", "application/grpc", "\x00\x00", "grpc-status:13"},
		"less than it says":             {"Add", "application/grpc", "\x00\x00\x00\x00\x09\x08", "grpc-status:13"},
		"compressed without a name":     {"Add", "application/grpc", "\x01\x00\x00\x00\x01\x08", "grpc-status:13"},
		"nothing":                       {"Add", "application/grpc", "", "grpc-status:12"},
		"no message":                    {"Add", "application/grpc", "\x00\x00\x00\x00\x02\xff\xff", "grpc-status:13"},
		"no message over Connect":       {"Count", "application/connect+proto", "\x00\x00\x00\x00\x02\xff\xff", "invalid_argument"},
		"a gigabyte in a client stream": {"Total", "application/grpc", huge, "grpc-status:8"},
	} {
		got := frames(t, connection, url+"/test.v1.Calc/"+test.method, test.media, test.body)
		if !strings.Contains(got, test.answer) {
			t.Errorf("%s: %q, want %s", about, got, test.answer)
		}
		if reply, err := add.CallUnary(t.Context(), connect.NewRequest(&sumIn{1, 2})); err != nil || reply.Msg.Sum != 3 {
			t.Fatalf("%s: the next call: %v", about, err)
		}
	}
}

// gRPC's C core (Python, C++, Ruby, PHP) takes a header grpc-encoding without a value for a broken connection: calls that follow over it
// fail, too.
func TestAnUnknownCompressionIsRefusedWithoutAHeaderThatBreaksTheConnection(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	for _, test := range []struct{ method, media, header, accepted, answer string }{
		{"Add", "application/grpc", "Grpc-Encoding", "Grpc-Accept-Encoding", "12"},
		{"Count", "application/grpc+proto", "Grpc-Encoding", "Grpc-Accept-Encoding", "12"},
		{"Add", "application/grpc-web", "Grpc-Encoding", "Grpc-Accept-Encoding", "12"},
		{"Count", "application/connect+proto", "Connect-Content-Encoding", "", "unimplemented"},
		{"Add", "application/proto", "Content-Encoding", "", "unimplemented"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), "POST", url+"/test.v1.Calc/"+test.method, strings.NewReader("\x01\x00\x00\x00\x01x"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"Content-Type": {test.media}, test.header: {"deflate"}, "Te": {"trailers"}}
		answer, err := client(t, false).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.ToLower(answer.Header.Get("Grpc-Status") + answer.Trailer.Get("Grpc-Status") + string(text))
		if !strings.Contains(said, test.answer) {
			t.Errorf("%s %s answers %q, want %s", test.media, test.method, said, test.answer)
		}
		if got, there := answer.Header[test.header]; there {
			t.Errorf("%s %s answers with %s: %q", test.media, test.method, test.header, got)
		}
		if test.accepted != "" && answer.Header.Get(test.accepted) != "gzip" {
			t.Errorf("%s %s does not say what is taken: %v", test.media, test.method, answer.Header)
		}
	}
}

// A handler may end its goroutine, as those of tests do that fail there. Over HTTP/2 that is the one of net/http's stream.
func TestAHandlerThatEndsItsGoroutineFailsItsCallOnly(t *testing.T) {
	s := sabir.NewService("calc", sabir.Use(rpc.Package("test.v1")))
	sabir.Handle(s, "add", func(_ context.Context, in sumIn) (sumOut, error) {
		if in.A == 0 {
			runtime.Goexit()
		}
		return sumOut{in.A + in.B}, nil
	})
	url, _ := serve(t, []sabir.Servable{s})
	for name, option := range map[string]connect.ClientOption{"gRPC": connect.WithGRPC(), "gRPC-Web": connect.WithGRPCWeb(), "Connect": connect.WithClientOptions()} {
		for _, http1 := range []bool{false, true} {
			if http1 && name == "gRPC" {
				continue // which has HTTP/2 only
			}
			add := connect.NewClient[sumIn, sumOut](client(t, http1), url+"/test.v1.Calc/Add", connect.WithCodec(structs{}), option)
			_, err := add.CallUnary(t.Context(), connect.NewRequest(&sumIn{}))
			if code := connect.CodeOf(err); err == nil || code != connect.CodeInternal && code != connect.CodeUnknown {
				t.Errorf("%s, HTTP/1 %t: %v", name, http1, err)
			}
			if reply, err := add.CallUnary(t.Context(), connect.NewRequest(&sumIn{1, 2})); err != nil || reply.Msg.Sum != 3 {
				t.Errorf("%s, HTTP/1 %t: the next call: %v, %v", name, http1, reply, err)
			}
		}
	}
}

// A client that asks for far more than the node can do gets an answer or a refusal for each call, and keeps its connection.
func TestTenThousandCallsOverOneConnectionAreAnsweredOrRefused(t *testing.T) {
	brokers.Long(t)
	url, _ := serve(t, []sabir.Servable{calc()})
	connection := client(t, false)
	connection.Transport.(*http.Transport).MaxConnsPerHost = 1
	add := connect.NewClient[sumIn, sumOut](connection, url+"/test.v1.Calc/Add", connect.WithCodec(structs{}), connect.WithGRPC())
	var all sync.WaitGroup
	var answered, refused atomic.Int64
	for range 10_000 {
		all.Go(func() {
			switch _, err := add.CallUnary(t.Context(), connect.NewRequest(&sumIn{1, 2})); {
			case err == nil:
				answered.Add(1)
			case connect.CodeOf(err) == connect.CodeResourceExhausted:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if answered.Load() == 0 || answered.Load()+refused.Load() != 10_000 {
		t.Errorf("%d were answered, %d refused", answered.Load(), refused.Load())
	}
}

// A client that opens streams and resets each at once (CVE-2023-44487) leaves no handler behind, and the next call is answered.
func TestStreamsThatAreResetAtOnceLeaveNothingBehind(t *testing.T) {
	var running atomic.Int64
	idle := make(chan struct{}, 1)
	s := sabir.NewService("calc")
	sabir.Handle(s, "wait", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		running.Add(1)
		<-ctx.Done()
		if running.Add(-1) == 0 {
			select {
			case idle <- struct{}{}:
			default:
			}
		}
		return sabir.Empty{}, ctx.Err()
	})
	sabir.Handle(s, "add", func(_ context.Context, in sumIn) (sumOut, error) { return sumOut{in.A + in.B}, nil })
	url, _ := serve(t, []sabir.Servable{s})
	connection := client(t, false)
	options := []connect.ClientOption{connect.WithCodec(structs{}), connect.WithGRPC()}
	wait := connect.NewClient[sabir.Empty, sabir.Empty](connection, url+"/calc.Calc/Wait", options...)
	for range 500 {
		ctx, reset := context.WithTimeout(t.Context(), time.Millisecond) // which the server learns of too, as grpc-timeout
		_, err := wait.CallUnary(ctx, connect.NewRequest(&sabir.Empty{}))
		reset()
		if code := connect.CodeOf(err); code != connect.CodeDeadlineExceeded && code != connect.CodeCanceled && code != connect.CodeUnavailable {
			t.Fatal(err)
		}
	}
	add := connect.NewClient[sumIn, sumOut](connection, url+"/calc.Calc/Add", options...)
	if reply, err := add.CallUnary(t.Context(), connect.NewRequest(&sumIn{1, 2})); err != nil || reply.Msg.Sum != 3 {
		t.Error(err)
	}
	for running.Load() > 0 {
		<-idle
	}
}
