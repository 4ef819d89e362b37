package rpc_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/rpc"
	"github.com/sabir-go/sabir/validate"
)

// dial starts a node that calls the server.
func dial(t *testing.T, f rpc.Foreign) *sabir.Node {
	t.Helper()
	return startCaller(t, rpc.Dial(f))
}

func startCaller(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	node := sabir.NewNode(append(options, sabir.Logger(slog.New(slog.DiscardHandler)))...)
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := node.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return node
}

// ways are the protocols in which a foreign server is called.
var ways = map[string]rpc.Foreign{
	"gRPC":                  {},
	"Connect":               {Protocol: "connect"},
	"Connect over HTTP/1.1": {Protocol: "connect", HTTP1: true},
	"gRPC-Web":              {Protocol: "grpc-web"},
}

func eachWay(t *testing.T, test func(t *testing.T, f rpc.Foreign)) {
	for name, f := range ways {
		t.Run(name, func(t *testing.T) { test(t, f) })
	}
}

func TestTheActionsOfAnotherClusterAreCalledByName(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	files := describe(t, url)
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		f.URL = url
		if f.HTTP1 {
			f.Files = files // reflection is a stream
		}
		node := dial(t, f)
		out, err := sabir.Call[sumOut](t.Context(), node, "calc.add", sumIn{40, 2})
		if err != nil || out.Sum != 42 {
			t.Fatalf("%v %v", out, err)
		}
		pointer, err := sabir.Call[*sumOut](t.Context(), node, "calc.add", &sumIn{40, 2})
		if err != nil || pointer.Sum != 42 {
			t.Errorf("%v %v", pointer, err)
		}
		_, err = sabir.Call[sabir.Empty](t.Context(), node, "calc.buy", sabir.Empty{})
		data, _ := sabir.DataAs[map[string]any](err)
		if !errors.Is(err, errOutOfStock) || sabir.AsError(err).Message != errOutOfStock.Message || data["left"] != 3.0 || sabir.AsError(err).Node == "" {
			t.Errorf("%v with %v", err, data)
		}
		_, err = sabir.Call[sabir.Empty](t.Context(), node, "calc.signUp", signUp{Email: "x", Age: 7})
		if fields, _ := sabir.DataAs[validate.Errors](err); !errors.Is(err, sabir.ErrValidationFailed) || len(fields) != 2 {
			t.Errorf("%v", err)
		}
		ctx := sabir.WithMetadata(sabir.WithMetadata(t.Context(), "tenant", "acme"), "authorization", "secret")
		for key, want := range map[string]string{"tenant": "acme", "authorization": ""} {
			if got, err := sabir.Call[text](ctx, node, "calc.metadata", text{key}); err != nil || got.Text != want {
				t.Errorf("%s: %v %v", key, got, err)
			}
		}
	})
}

// describe asks a node for its descriptors.
func describe(t *testing.T, url string) *descriptorpb.FileDescriptorSet {
	t.Helper()
	stream := grpcreflect.NewClient(client(t, false), url, connect.WithGRPC()).NewStream(t.Context())
	defer stream.Close()
	files, err := stream.FileContainingSymbol("test.v1.Calc")
	if err != nil {
		t.Fatal(err)
	}
	return &descriptorpb.FileDescriptorSet{File: files}
}

func TestStreamsOfAForeignServerGoBothWays(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		if f.HTTP1 {
			return // see below
		}
		f.URL = url
		node := dial(t, f)
		chat, err := sabir.OpenStream[text, text](t.Context(), node, "calc.chat")
		if err != nil {
			t.Fatal(err)
		}
		for _, say := range []string{"a", "b"} {
			if err := chat.Send(text{say}); err != nil {
				t.Fatal(err)
			}
			if got, err := chat.Recv(); err != nil || got.Text != "you said "+say {
				t.Fatalf("%v %v", got, err)
			}
		}
		chat.CloseSend()
		if _, err := chat.Recv(); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		var values int
		for _, err := range sabir.CallStream[sumOut](t.Context(), node, "calc.count", sumIn{3, 1}) {
			if values++; !errors.Is(err, errOutOfStock) {
				t.Error(err)
			}
		}
		if values != 1 {
			t.Errorf("%d values", values)
		}
	})
}

func TestStreamsAreRefusedOverHTTP1(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	node := dial(t, rpc.Foreign{URL: url, Protocol: "connect", HTTP1: true, Files: describe(t, url)})
	if _, err := sabir.OpenStream[text, text](t.Context(), node, "calc.chat"); sabir.AsError(err).Code != sabir.CodeUnimplemented {
		t.Error(err)
	}
}

func TestACallOfAStreamAndAStreamOfACallAreRefused(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	node := dial(t, rpc.Foreign{URL: url})
	if _, err := sabir.Call[text](t.Context(), node, "calc.chat", text{}); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "StreamWanted", "")) {
		t.Error(err)
	}
	if _, err := sabir.OpenStream[sumIn, sumOut](t.Context(), node, "calc.add"); sabir.AsError(err).Name != "NoStream" {
		t.Error(err)
	}
}

func TestJSONIsTheServersMessage(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	node := dial(t, rpc.Foreign{URL: url})
	out, err := sabir.CallJSON(t.Context(), node, "calc.add", []byte(`{"a":"40","b":2}`))
	if err != nil || strings.ReplaceAll(string(out), " ", "") != `{"sum":"42"}` {
		t.Errorf("%s %v", out, err)
	}
	if _, err := sabir.CallJSON(t.Context(), node, "calc.add", []byte(`{"c":1}`)); !errors.Is(err, sabir.ErrBadInput) {
		t.Error(err)
	}
}

func TestAStructThatDoesNotFitTheMessageIsRefusedBeforeItIsSent(t *testing.T) {
	called := false
	s := sabir.NewService("people")
	sabir.Handle(s, "add", func(_ context.Context, in struct {
		Name    string    `json:"name"`
		Age     int       `json:"age"`
		Address text      `json:"address"`
		Born    time.Time `json:"born"`
	}) (text, error) {
		called = true
		return text{}, nil
	})
	url, _ := serve(t, []sabir.Servable{s})
	node := dial(t, rpc.Foreign{URL: url})
	refused := func(err error, want string) {
		t.Helper()
		if !errors.Is(err, sabir.ErrBadInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, err := sabir.Call[text](t.Context(), node, "people.add", struct{ Age int }{7})
	refused(err, "give it the tag `protobuf:\"2\"`")
	_, err = sabir.Call[text](t.Context(), node, "people.add", struct{ Title string }{"x"})
	refused(err, "number 1, which is name in people.")
	_, err = sabir.Call[text](t.Context(), node, "people.add", struct {
		Address struct{ Street string } `protobuf:"3"`
	}{})
	refused(err, "which is text in people.Text")
	_, err = sabir.Call[text](t.Context(), node, "people.add", struct {
		Address string `protobuf:"3"`
	}{"x"})
	refused(err, "the field address is string here")
	if called {
		t.Error("one was sent")
	}
	if _, err := sabir.Call[text](t.Context(), node, "people.add", struct {
		Born time.Time `protobuf:"4"`
		Age  uint8     `protobuf:"2"`
	}{time.Now(), 7}); err != nil {
		t.Error(err)
	}
}

// A server by connect-go alone, which has no reflection.
func TestAServerWithoutReflectionIsCalledByItsDescriptors(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/acme.v1.Quotas/GetQuota", connect.NewUnaryHandler("/acme.v1.Quotas/GetQuota",
		func(_ context.Context, r *connect.Request[errdetails.ErrorInfo]) (*connect.Response[errdetails.ErrorInfo], error) {
			if r.Header().Get("Api-Key") != "k" {
				failed := connect.NewError(connect.CodePermissionDenied, errors.New("no key"))
				detail, _ := connect.NewErrorDetail(&errdetails.Help{Links: []*errdetails.Help_Link{{Url: "https://example.com"}}})
				failed.AddDetail(detail)
				return nil, failed
			}
			return connect.NewResponse(&errdetails.ErrorInfo{Reason: r.Msg.GetReason() + "!"}), nil
		}))
	server := httptest.NewUnstartedServer(mux)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	name := ".google.rpc.ErrorInfo"
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{
		protodesc.ToFileDescriptorProto((&errdetails.ErrorInfo{}).ProtoReflect().Descriptor().ParentFile()),
		protodesc.ToFileDescriptorProto((&durationpb.Duration{}).ProtoReflect().Descriptor().ParentFile()),
		{Name: proto.String("quotas.proto"), Package: proto.String("acme.v1"), Syntax: proto.String("proto3"), Dependency: []string{"google/rpc/error_details.proto"},
			Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("Quotas"), Method: []*descriptorpb.MethodDescriptorProto{{Name: proto.String("GetQuota"), InputType: &name, OutputType: &name}}}}},
	}}
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		f.URL, f.Files, f.Services, f.Header = server.URL, set, map[string]string{"acme.v1.Quotas": "limits"}, http.Header{"Api-Key": {"k"}}
		node := dial(t, f)
		type info struct{ Reason string }
		if out, err := sabir.Call[info](t.Context(), node, "limits.getQuota", info{"full"}); err != nil || out.Reason != "full!" {
			t.Errorf("%v %v", out, err)
		}
		generated, err := sabir.Call[*errdetails.ErrorInfo](t.Context(), node, "limits.getQuota", &errdetails.ErrorInfo{Reason: "full"})
		if err != nil || generated.GetReason() != "full!" {
			t.Errorf("%v %v", generated, err)
		}
		f.Header = nil
		f.URL += "/" // another node's own
		_, err = sabir.Call[info](t.Context(), dial(t, f), "limits.getQuota", info{"full"})
		failed := sabir.AsError(err)
		if details, ok := failed.Data.([]proto.Message); failed.Code != sabir.CodePermissionDenied || failed.Message != "no key" || !ok || len(details) != 1 {
			t.Errorf("%v with %v", err, failed.Data)
		}
	})
}

func TestAServerIsCalledOverTLSAndKnowsItsCallerByACertificate(t *testing.T) {
	s := sabir.NewService("calc")
	sabir.Handle(s, "who", func(_ context.Context, in text) (text, error) { return in, nil })
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.StartTLS() // for its certificate
	t.Cleanup(secure.Close)
	certificate := secure.TLS.Certificates[0]
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAnyClientCert}
	node := sabir.NewNode(sabir.Serve(s), sabir.HTTP("127.0.0.1:0", gateway.TLS(config), rpc.Serve()), sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Stop(context.Background()) })
	trusted := x509.NewCertPool()
	trusted.AddCert(secure.Certificate())
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		f.URL, f.HTTP1 = "https://"+node.HTTPAddr(), false
		f.TLS = &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{certificate}}
		if out, err := sabir.Call[text](t.Context(), dial(t, f), "calc.who", text{"x"}); err != nil || out.Text != "x" {
			t.Errorf("%v %v", out, err)
		}
		f.TLS = &tls.Config{RootCAs: trusted}
		if _, err := sabir.Call[text](t.Context(), dial(t, f), "calc.who", text{"x"}); err == nil {
			t.Error("it was called without a certificate")
		}
	})
}

func TestAConnectionThatIsCutOrResetUnderACallIsALostLink(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	files := describe(t, url)
	for name, reset := range map[string]bool{"cut": false, "reset": true} {
		at, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var serving sync.WaitGroup
		serving.Go(func() {
			for {
				c, err := at.Accept()
				if err != nil {
					return
				}
				c.Read(make([]byte, 1)) // the request comes
				if reset {
					c.(*net.TCPConn).SetLinger(0)
				}
				c.Close()
			}
		})
		t.Run(name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, f rpc.Foreign) {
				f.URL, f.Files = "http://"+at.Addr().String(), files
				if _, err := sabir.Call[sumOut](t.Context(), dial(t, f), "calc.add", sumIn{1, 2}); !errors.Is(err, sabir.ErrLinkLost) || sabir.AsError(err).Retryable {
					t.Error(err)
				}
			})
		})
		at.Close()
		serving.Wait()
	}
}

func TestAddressesThatCannotBeMeantAreRefusedAtTheStart(t *testing.T) {
	for name, f := range map[string]rpc.Foreign{
		"no scheme": {URL: "billing:50051"}, "another": {URL: "xds:///billing:443"}, "a name without a port": {URL: "dns:///billing"}, "a server of names": {URL: "dns://10.0.0.1/billing:443"}, "credentials": {URL: "https://u:hunter2@billing"}, "unreadable": {URL: "https://u:hunter2@bil ling"},
		"gRPC over HTTP/1.1": {URL: "http://billing", HTTP1: true}, "no protocol": {URL: "http://billing", Protocol: "gRPC"},
	} {
		err := sabir.NewNode(rpc.Dial(f)).Start(t.Context())
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPoliciesHoldForCallsOfAForeignServer(t *testing.T) {
	var attempts atomic.Int32
	s := sabir.NewService("calc")
	sabir.Handle(s, "try", func(_ context.Context, in text) (text, error) {
		if attempts.Add(1) < 3 {
			return text{}, sabir.NewError(sabir.CodeUnavailable, "Busy", "come back later").AsRetryable()
		}
		return in, nil
	})
	url, _ := serve(t, []sabir.Servable{s})
	node := startCaller(t, rpc.Dial(rpc.Foreign{URL: url}), sabir.Toward("calc.*", policy.Retry{FirstPause: time.Millisecond}))
	if out, err := sabir.Call[text](t.Context(), node, "calc.try", text{"x"}); err != nil || out.Text != "x" || attempts.Load() != 3 {
		t.Errorf("%v %v after %d attempts", out, err, attempts.Load())
	}
}

func TestAServerThatIsDialedTwiceIsRefusedAtTheStart(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	node := sabir.NewNode(rpc.Dial(rpc.Foreign{URL: url}), rpc.Dial(rpc.Foreign{URL: url + "/", Protocol: "connect"}))
	if err := node.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "is dialed twice") {
		t.Error(err)
	}
}
