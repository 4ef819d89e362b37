package rpc_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/rpc"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/filter"
)

func TestAnActionIsCalledWithPlainStructs(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		reply, err := caller[sumIn, sumOut](t, d, url, "Add").CallUnary(t.Context(), connect.NewRequest(&sumIn{40, 2}))
		if err != nil || reply.Msg.Sum != 42 {
			t.Errorf("got %v, %v", reply, err)
		}
	})
}

func TestAnActionOfPointersHasTheMessagesOfTheirStructs(t *testing.T) {
	s := sabir.NewService("calc", sabir.Use(rpc.Package("test.v1")))
	sabir.Handle(s, "add", func(_ context.Context, in *sumIn) (*sumOut, error) {
		if in.A == 0 {
			return nil, nil
		}
		return &sumOut{in.A + in.B}, nil
	})
	url, _ := serve(t, []sabir.Servable{s})
	each(t, func(t *testing.T, d dialect) {
		add := caller[sumIn, sumOut](t, d, url, "Add")
		for sent, want := range map[sumIn]int64{{40, 2}: 42, {}: 0} {
			reply, err := add.CallUnary(t.Context(), connect.NewRequest(&sent))
			if err != nil || reply.Msg.Sum != want {
				t.Errorf("%v: got %v, %v", sent, reply, err)
			}
		}
	})
	if status, answer := post(t, url+"/test.v1.Calc/Add", "application/json", `{"a":"40","b":"2"}`); status != 200 || answer != `{"sum":"42"}` {
		t.Errorf("%d %s", status, answer)
	}
}

func TestCompressedMessagesGoBothWays(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		want := strings.Repeat("sabir", 10_000)
		reply, err := caller[text, text](t, d, url, "Echo", connect.WithSendGzip()).CallUnary(t.Context(), connect.NewRequest(&text{want}))
		if err != nil || reply.Msg.Text != want {
			t.Errorf("%v", err)
		}
	})
}

// post sends a Connect call as a page would.
func post(t *testing.T, url, contentType, body string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Connect-Protocol-Version", "1")
	return do(t, request)
}

func do(t *testing.T, request *http.Request) (int, string) {
	t.Helper()
	response, err := client(t, true).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

func TestATimeLimitThatComesTwiceIsRefused(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		request := connect.NewRequest(&sumIn{1, 2})
		request.Header()["Grpc-Timeout"] = []string{"1S", "2S"}
		request.Header()["Connect-Timeout-Ms"] = []string{"1000", "2000"}
		_, err := caller[sumIn, sumOut](t, d, url, "Add").CallUnary(t.Context(), request)
		wantCode(t, err, connect.CodeInvalidArgument)
	})
}

func TestConnectJSONIsTheJSONOfProtocolBuffers(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	const sent = `{"big":"9007199254740993","small":7,"bytes":"AAH/","at":"2026-11-25T12:00:00.500Z","took":"1.500s","userName":"Ada","orderId":"o1","tags":{"a":"18446744073709551615"},"any":{"n":[1,"x",null]}}`
	for name, in := range map[string]string{
		"as it is written":       sent,
		"names of the .proto":    strings.NewReplacer("userName", "user_name", "orderId", "order_id").Replace(sent),
		"with a field unknown":   strings.Replace(sent, "{", `{"later":{"x":[1]},`, 1),
		"with numbers as digits": strings.Replace(sent, `"9007199254740993"`, `9007199254740993`, 1),
	} {
		status, answer := post(t, url+"/test.v1.Calc/Kinds", "application/json", in)
		if status != 200 || answer != sent {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
}

func TestConnectJSONErrorsHaveTheirHTTPStatusAndDetails(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	status, answer := post(t, url+"/test.v1.Calc/Buy", "application/json; charset=utf-8", "{}")
	var wire struct {
		Code, Message string
		Details       []struct{ Type, Value string }
	}
	if err := json.Unmarshal([]byte(answer), &wire); err != nil {
		t.Fatal(err)
	}
	if status != 400 || wire.Code != "failed_precondition" || wire.Message != errOutOfStock.Message || len(wire.Details) != 2 || wire.Details[0].Type != "google.rpc.ErrorInfo" {
		t.Fatalf("%d %s", status, answer)
	}
	if _, err := base64.RawStdEncoding.DecodeString(wire.Details[0].Value); err != nil {
		t.Error(err)
	}
}

func TestErrorsHaveTheirCodeNameAndData(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		_, err := caller[sabir.Empty, sabir.Empty](t, d, url, "Buy").CallUnary(t.Context(), connect.NewRequest(&sabir.Empty{}))
		failed := wantCode(t, err, connect.CodeFailedPrecondition)
		if failed.Message() != errOutOfStock.Message {
			t.Errorf("the message is %q", failed.Message())
		}
		info, data := detail[*errdetails.ErrorInfo](t, failed), detail[*structpb.Struct](t, failed)
		if info.GetReason() != "OutOfStock" || data.AsMap()["left"] != 3.0 {
			t.Errorf("%v %v", info, data)
		}
	})
}

func wantCode(t *testing.T, err error, code connect.Code) *connect.Error {
	t.Helper()
	var failed *connect.Error
	if !errors.As(err, &failed) || failed.Code() != code {
		t.Fatalf("got %v, want %v", err, code)
	}
	return failed
}

func detail[D any](t *testing.T, err *connect.Error) D {
	t.Helper()
	for _, d := range err.Details() {
		value, err := d.Value()
		if err != nil {
			t.Fatal(err)
		}
		if found, ok := any(value).(D); ok {
			return found
		}
	}
	var none D
	t.Fatalf("%v has no %T", err, none)
	return none
}

func TestFieldsThatBreakRulesAreABadRequest(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		_, err := caller[signUp, sabir.Empty](t, d, url, "SignUp").CallUnary(t.Context(), connect.NewRequest(&signUp{Email: "x", Age: 7}))
		fields := detail[*errdetails.BadRequest](t, wantCode(t, err, connect.CodeInvalidArgument)).GetFieldViolations()
		if len(fields) != 2 || fields[0].GetField() != "email" || fields[1].GetField() != "age" || fields[1].GetDescription() == "" {
			t.Errorf("%v", fields)
		}
	})
}

func TestPanicsAndPlainErrorsKeepTheirTextFromCallers(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		for method, code := range map[string]connect.Code{"Panic": connect.CodeInternal, "Plain": connect.CodeUnknown} {
			_, err := caller[sabir.Empty, sabir.Empty](t, d, url, method).CallUnary(t.Context(), connect.NewRequest(&sabir.Empty{}))
			if failed := wantCode(t, err, code); strings.Contains(failed.Message(), "hunter2") {
				t.Error(failed)
			}
		}
	})
}

func TestRetryableErrorsTellWhenToTryAgain(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	_, err := caller[sabir.Empty, sabir.Empty](t, dialects[2], url, "Busy").CallUnary(t.Context(), connect.NewRequest(&sabir.Empty{}))
	if wait := detail[*errdetails.RetryInfo](t, wantCode(t, err, connect.CodeUnavailable)).GetRetryDelay().AsDuration(); wait != time.Second {
		t.Error(wait)
	}
}

func TestUnknownServicesAndMethodsAreUnimplemented(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		options := append([]connect.ClientOption{connect.WithCodec(structs{})}, d.options...)
		for _, path := range []string{"/test.v1.Calc/Nothing", "/nothing.v1.Nothing/Add"} {
			_, err := connect.NewClient[sumIn, sumOut](client(t, d.http1), url+path, options...).CallUnary(t.Context(), connect.NewRequest(&sumIn{}))
			wantCode(t, err, connect.CodeUnimplemented)
		}
	})
}

// broken sends bytes that are no message.
type broken struct{ structs }

func (broken) Marshal(any) ([]byte, error) { return []byte{0xff, 0xff, 0xff}, nil }

func TestUndecodableBytesAreInternalToGRPCAndInvalidToConnect(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	for d, want := range map[int]connect.Code{0: connect.CodeInvalidArgument, 2: connect.CodeInternal, 3: connect.CodeInternal} {
		_, err := caller[sumIn, sumOut](t, dialects[d], url, "Add", connect.WithCodec(broken{})).CallUnary(t.Context(), connect.NewRequest(&sumIn{}))
		wantCode(t, err, want)
	}
}

func TestMetadataGoesBothWays(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		for key, want := range map[string]string{"tenant": "acme", "trace-bin": connect.EncodeBinaryHeader([]byte{0, 1, 255}), "authorization": "", "user-agent": "", "sabir.principal": "", "grpc-timeout": ""} {
			request := connect.NewRequest(&text{key})
			request.Header().Set("Tenant", "acme")
			request.Header().Set("Trace-Bin", connect.EncodeBinaryHeader([]byte{0, 1, 255}))
			request.Header().Set("Authorization", "Bearer secret")
			request.Header().Set("Sabir.Principal", `{"sub":"root"}`)
			reply, err := caller[text, text](t, d, url, "Metadata").CallUnary(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			if reply.Msg.Text != want {
				t.Errorf("%s is %q, want %q", key, reply.Msg.Text, want)
			}
			if reply.Header().Get("X-Answer") != "header" || reply.Trailer().Get("X-Behind") != "trailer" || reply.Header().Get("X-Answer-Bin") != "AAH/" {
				t.Errorf("the answer has %v and %v", reply.Header(), reply.Trailer())
			}
		}
	})
}

func TestAnErrorHasTheMetadataOfItsHandler(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		_, err := caller[sabir.Empty, sabir.Empty](t, d, url, "Refuse").CallUnary(t.Context(), connect.NewRequest(&sabir.Empty{}))
		if meta := wantCode(t, err, connect.CodeFailedPrecondition).Meta(); meta.Get("X-Answer") != "header" || meta.Get("X-Behind") != "trailer" {
			t.Errorf("the error has %v", meta)
		}
	})
}

// Clients of Connect tell the two apart by the prefix, which pages of other sites name in Expose.
func TestATrailerOfAnErrorIsNoHeaderToConnect(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	request, err := http.NewRequestWithContext(t.Context(), "POST", url+"/test.v1.Calc/Refuse", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client(t, true).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if h := response.Header; h.Get("X-Answer") != "header" || h.Get("Trailer-X-Behind") != "trailer" || h.Get("X-Behind") != "" {
		t.Errorf("%s %v", response.Status, h)
	}
}

// A handler must not take a part of the metadata for the whole.
func TestACallWithMoreMetadataThanThereMayBeFails(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		for _, c := range []struct {
			pairs, bytes int
			fits         bool
		}{{1, 30 << 10, true}, {60, 0, true}, {1, 33 << 10, false}, {65, 0, false}} {
			request := connect.NewRequest(&text{"tenant"})
			request.Header().Set("Tenant", "acme")
			for i := range c.pairs {
				request.Header().Set(fmt.Sprint("Pair-", i), strings.Repeat("x", c.bytes))
			}
			reply, err := caller[text, text](t, d, url, "Metadata").CallUnary(t.Context(), request)
			if !c.fits {
				wantCode(t, err, connect.CodeResourceExhausted)
			} else if err != nil || reply.Msg.Text != "acme" {
				t.Errorf("with %d pairs and %d bytes: %v", c.pairs, c.bytes, err)
			}
		}
	})
}

func TestTheDeadlineOfTheCallerEndsTheHandler(t *testing.T) {
	ended := make(chan error, 1)
	s := sabir.NewService("calc")
	sabir.Handle(s, "wait", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return sabir.Empty{}, ctx.Err()
	})
	url, _ := serve(t, []sabir.Servable{s})
	each(t, func(t *testing.T, d dialect) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		options := append([]connect.ClientOption{connect.WithCodec(structs{})}, d.options...)
		_, err := connect.NewClient[sabir.Empty, sabir.Empty](client(t, d.http1), url+"/calc.Calc/Wait", options...).CallUnary(ctx, connect.NewRequest(&sabir.Empty{}))
		wantCode(t, err, connect.CodeDeadlineExceeded)
		if err := <-ended; err == nil {
			t.Error("the context had no error")
		}
	})
}

func TestADeadlineIsKeptByTheServerAlone(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	request, _ := http.NewRequestWithContext(t.Context(), "POST", url+"/test.v1.Calc/Wait", strings.NewReader("{}"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Connect-Timeout-Ms", "20")
	if status, answer := do(t, request); status != 504 || !strings.Contains(answer, "deadline_exceeded") {
		t.Errorf("%d %s", status, answer)
	}
}

func TestACallerThatGoesEndsTheHandler(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	s := sabir.NewService("calc")
	sabir.Handle(s, "wait", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return sabir.Empty{}, ctx.Err()
	})
	url, _ := serve(t, []sabir.Servable{s})
	each(t, func(t *testing.T, d dialect) {
		ctx, cancel := context.WithCancel(t.Context())
		options := append([]connect.ClientOption{connect.WithCodec(structs{})}, d.options...)
		done := make(chan error, 1)
		go func() {
			_, err := connect.NewClient[sabir.Empty, sabir.Empty](client(t, d.http1), url+"/calc.Calc/Wait", options...).CallUnary(ctx, connect.NewRequest(&sabir.Empty{}))
			done <- err
		}()
		<-begun
		cancel()
		<-ended
		wantCode(t, <-done, connect.CodeCanceled)
	})
}

func TestAMessageAboveTheLimitIsRefusedAndTheConnectionStays(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	limited, _ := serve(t, []sabir.Servable{calc()}, web.With(web.Config{BodyLimit: 1000}))
	each(t, func(t *testing.T, d dialect) {
		for at, size := range map[string]int{url: 5 << 20, limited: 2000} {
			echo := caller[text, text](t, d, at, "Echo")
			_, err := echo.CallUnary(t.Context(), connect.NewRequest(&text{strings.Repeat("x", size)}))
			wantCode(t, err, connect.CodeResourceExhausted)
			if reply, err := echo.CallUnary(t.Context(), connect.NewRequest(&text{"small"})); err != nil || reply.Msg.Text != "small" {
				t.Errorf("the next call: %v", err)
			}
		}
		reply, err := caller[sumIn, text](t, d, url, "Repeat").CallUnary(t.Context(), connect.NewRequest(&sumIn{A: 5 << 20}))
		if err != nil || len(reply.Msg.Text) != 5<<20 {
			t.Errorf("answers have no limit: %v", err)
		}
	})
}

func TestACompressedBombIsRefused(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		_, err := caller[text, text](t, d, url, "Echo", connect.WithSendGzip()).CallUnary(t.Context(), connect.NewRequest(&text{strings.Repeat("x", 8<<20)}))
		wantCode(t, err, connect.CodeResourceExhausted)
	})
}

func TestTheGuardsOfHTTPHoldOverEachProtocol(t *testing.T) {
	s := sabir.NewService("calc", sabir.Use(auth.Require("admin")))
	sabir.Handle(s, "who", func(ctx context.Context, _ sabir.Empty) (text, error) {
		p, _ := auth.FromContext(ctx)
		return text{p.Subject}, nil
	})
	keys := &auth.Key{Keys: map[string]auth.Principal{
		"0123456789abcdef": {Subject: "ada", Roles: []string{"admin"}}, "fedcba9876543210": {Subject: "bob"}}}
	url, _ := serve(t, []sabir.Servable{s}, web.With(web.Config{Auth: []auth.Authenticator{keys}}))
	each(t, func(t *testing.T, d dialect) {
		who := func(key string) (string, error) {
			request := connect.NewRequest(&sabir.Empty{})
			request.Header().Set("X-Api-Key", key)
			options := append([]connect.ClientOption{connect.WithCodec(structs{})}, d.options...)
			reply, err := connect.NewClient[sabir.Empty, text](client(t, d.http1), url+"/calc.Calc/Who", options...).CallUnary(t.Context(), request)
			if err != nil {
				return "", err
			}
			return reply.Msg.Text, nil
		}
		if got, err := who("0123456789abcdef"); err != nil || got != "ada" {
			t.Errorf("%q %v", got, err)
		}
		_, err := who("fedcba9876543210")
		wantCode(t, err, connect.CodePermissionDenied)
		_, err = who("")
		wantCode(t, err, connect.CodeUnauthenticated)
	})
}

func TestARateLimitHoldsOverEachProtocol(t *testing.T) {
	each(t, func(t *testing.T, d dialect) {
		url, _ := serve(t, []sabir.Servable{calc()}, web.With(web.Config{Filters: web.Filters{filter.RateLimit{Rate: 0.001, Burst: 1}}}))
		add := caller[sumIn, sumOut](t, d, url, "Add")
		if _, err := add.CallUnary(t.Context(), connect.NewRequest(&sumIn{})); err != nil {
			t.Fatal(err)
		}
		_, err := add.CallUnary(t.Context(), connect.NewRequest(&sumIn{}))
		wantCode(t, err, connect.CodeResourceExhausted)
	})
}

func TestActionsThatAreNotPublicDoNotExist(t *testing.T) {
	s := sabir.NewService("calc")
	sabir.Handle(s, "inner", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil }, sabir.ClusterOnly())
	sabir.Handle(s, "outer", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil })
	url, _ := serve(t, []sabir.Servable{s})
	for path, want := range map[string]int{"/calc.Calc/Inner": 404, "/calc.Calc/Outer": 200} {
		if status, answer := post(t, url+path, "application/json", "{}"); status != want {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
}

func TestActionsWithoutSideEffectsTakeGET(t *testing.T) {
	at, _ := serve(t, []sabir.Servable{calc()})
	query := url.Values{"connect": {"v1"}, "encoding": {"json"}, "message": {`{"a":"40","b":"2"}`}}
	for path, want := range map[string]string{"/test.v1.Calc/Add": `{"sum":"42"}`, "/test.v1.Calc/Peek": `{"sum":"40"}`, "/test.v1.Calc/Set": ""} {
		request, _ := http.NewRequestWithContext(t.Context(), "GET", at+path+"?"+query.Encode(), nil)
		status, answer := do(t, request)
		if want != "" && (status != 200 || answer != want) || want == "" && status != 405 {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	binary := url.Values{"connect": {"v1"}, "encoding": {"proto"}, "base64": {"1"}, "message": {base64.RawURLEncoding.EncodeToString([]byte{8, 1, 16, 2})}}
	request, _ := http.NewRequestWithContext(t.Context(), "GET", at+"/test.v1.Calc/Add?"+binary.Encode(), nil)
	if status, answer := do(t, request); status != 200 || !bytes.Equal([]byte(answer), []byte{8, 3}) {
		t.Errorf("%d %x", status, answer)
	}
}

func TestTheRESTSideStaysAsItWas(t *testing.T) {
	at, _ := serve(t, []sabir.Servable{calc()})
	if status, answer := post(t, at+"/calc/add", "application/json", `{"a":40,"b":2}`); status != 200 || answer != `{"sum":42}` {
		t.Errorf("%d %s", status, answer)
	}
	request, _ := http.NewRequestWithContext(t.Context(), "POST", at+"/calc/nothing", strings.NewReader("{}"))
	request.Header.Set("Content-Type", "application/json")
	if status, answer := do(t, request); status != 404 || !strings.Contains(answer, "urn:sabir:error:ActionNotFound") {
		t.Errorf("%d %s", status, answer)
	}
}
