package rpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	"github.com/sabir-go/sabir"
)

func TestAServerStreamSendsItsValues(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		stream, err := caller[sumIn, sumOut](t, d, url, "Count").CallServerStream(t.Context(), connect.NewRequest(&sumIn{3, 6}))
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		var got []int64
		for stream.Receive() {
			got = append(got, stream.Msg().Sum)
		}
		if stream.Err() != nil || len(got) != 3 || got[0] != 3 || got[2] != 5 {
			t.Errorf("%v %v", got, stream.Err())
		}
		if stream.ResponseHeader().Get("X-Answer") != "header" || stream.ResponseTrailer().Get("X-Behind") != "trailer" {
			t.Errorf("%v %v", stream.ResponseHeader(), stream.ResponseTrailer())
		}
	})
}

func TestAStreamEndsWithTheErrorOfItsHandler(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		stream, err := caller[sumIn, sumOut](t, d, url, "Count").CallServerStream(t.Context(), connect.NewRequest(&sumIn{2, 1}))
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		for stream.Receive() {
		}
		failed := wantCode(t, stream.Err(), connect.CodeFailedPrecondition)
		if detail[*errdetails.ErrorInfo](t, failed).GetReason() != "OutOfStock" {
			t.Error(failed)
		}
	})
}

func TestAClientStreamIsAnsweredAtItsEnd(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	each(t, func(t *testing.T, d dialect) {
		stream := caller[sumIn, sumOut](t, d, url, "Total").CallClientStream(t.Context())
		for i := range int64(10) {
			if err := stream.Send(&sumIn{i, 1}); err != nil {
				t.Fatal(err)
			}
		}
		reply, err := stream.CloseAndReceive()
		if err != nil || reply.Msg.Sum != 55 {
			t.Errorf("%v %v", reply, err)
		}
	})
}

func TestAStreamBothWaysAnswersEachValueAndKnowsTheHalfClose(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	for _, i := range []int{0, 2} {
		stream := caller[text, text](t, dialects[i], url, "Chat").CallBidiStream(t.Context())
		for _, say := range []string{"a", "b"} {
			if err := stream.Send(&text{say}); err != nil {
				t.Fatal(err)
			}
			if got, err := stream.Receive(); err != nil || got.Text != "you said "+say {
				t.Fatalf("%v %v", got, err)
			}
		}
		stream.CloseRequest()
		if _, err := stream.Receive(); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		stream.CloseResponse()
	}
}

func TestAnEmptyInputIsNoFaultOfTheServer(t *testing.T) {
	s := sabir.NewService("first")
	first := func(_ context.Context, stream *sabir.Stream[text, text]) error {
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		return stream.Send(in)
	}
	sabir.HandleStream(s, "both", first)
	sabir.HandleStream(s, "server", first, sabir.ServerStream())
	sabir.HandleStream(s, "client", first, sabir.ClientStream())
	url, _ := serve(t, []sabir.Servable{s})
	for _, i := range []int{0, 2} {
		for method, check := range map[string]func(error){
			"Both": func(err error) {
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
			},
			"Server": func(err error) { wantCode(t, err, connect.CodeUnimplemented) }, // as statuscodes.md of gRPC has it
			"Client": func(err error) { wantCode(t, err, connect.CodeInvalidArgument) },
		} {
			options := append([]connect.ClientOption{connect.WithCodec(structs{})}, dialects[i].options...)
			stream := connect.NewClient[text, text](client(t, false), url+"/first.First/"+method, options...).CallBidiStream(t.Context())
			if err := stream.CloseRequest(); err != nil {
				t.Fatal(err)
			}
			_, err := stream.Receive()
			check(err)
			stream.CloseResponse()
		}
	}
}

func TestAValueThatCannotBeReadEndsTheStream(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	stream := caller[text, text](t, dialects[2], url, "Chat", connect.WithCodec(broken{})).CallBidiStream(t.Context())
	stream.Send(&text{"x"})
	_, err := stream.Receive()
	wantCode(t, err, connect.CodeInternal)
	stream.CloseRequest()
	stream.CloseResponse()
}

// endless is a service whose stream sends until its caller goes, or waits for values until then.
func endless(ended chan<- struct{}) *sabir.Service {
	s := sabir.NewService("endless")
	sabir.HandleStream(s, "send", func(ctx context.Context, stream *sabir.Stream[sabir.Empty, text]) error {
		defer func() { ended <- struct{}{} }()
		for {
			if err := stream.Send(text{strings.Repeat("x", 10_000)}); err != nil {
				return err
			}
		}
	})
	sabir.HandleStream(s, "wait", func(ctx context.Context, stream *sabir.Stream[sabir.Empty, text]) error {
		defer func() { ended <- struct{}{} }()
		stream.Send(text{"begun"})
		<-ctx.Done()
		return ctx.Err()
	})
	return s
}

func TestACallerThatGoesEndsTheStream(t *testing.T) {
	ended := make(chan struct{})
	url, _ := serve(t, []sabir.Servable{endless(ended)})
	each(t, func(t *testing.T, d dialect) {
		options := append([]connect.ClientOption{connect.WithCodec(structs{})}, d.options...)
		for _, method := range []string{"Send", "Wait"} {
			ctx, cancel := context.WithCancel(t.Context())
			stream, err := connect.NewClient[sabir.Empty, text](client(t, d.http1), url+"/endless.Endless/"+method, options...).CallServerStream(ctx, connect.NewRequest(&sabir.Empty{}))
			if err != nil {
				t.Fatal(err)
			}
			if !stream.Receive() {
				t.Fatal(stream.Err())
			}
			cancel()
			<-ended
			stream.Close()
		}
	})
}

func TestAReaderThatIsSlowHoldsBackItsOwnStreamOnly(t *testing.T) {
	ended := make(chan struct{}, 1)
	url, _ := serve(t, []sabir.Servable{endless(ended), calc()})
	connection := client(t, false)
	options := []connect.ClientOption{connect.WithCodec(structs{}), connect.WithGRPC()}
	ctx, cancel := context.WithCancel(t.Context())
	slow, err := connect.NewClient[sabir.Empty, text](connection, url+"/endless.Endless/Send", options...).CallServerStream(ctx, connect.NewRequest(&sabir.Empty{}))
	if err != nil || !slow.Receive() {
		t.Fatal(err)
	}
	add := connect.NewClient[sumIn, sumOut](connection, url+"/test.v1.Calc/Add", options...)
	for range 100 { // over the same connection
		if _, err := add.CallUnary(t.Context(), connect.NewRequest(&sumIn{1, 2})); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	<-ended
	slow.Close()
}

func TestTwoHundredStreamsGoOverOneConnection(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	connection := client(t, false)
	chat := connect.NewClient[text, text](connection, url+"/test.v1.Calc/Chat", connect.WithCodec(structs{}), connect.WithGRPC())
	var open []*connect.BidiStreamForClient[text, text]
	for range 200 {
		stream := chat.CallBidiStream(t.Context())
		if err := stream.Send(&text{"a"}); err != nil {
			t.Fatal(err)
		}
		open = append(open, stream)
	}
	var all sync.WaitGroup
	for _, stream := range open {
		all.Go(func() {
			if got, err := stream.Receive(); err != nil || got.Text != "you said a" {
				t.Errorf("%v %v", got, err)
			}
			stream.CloseRequest()
			stream.CloseResponse()
		})
	}
	all.Wait()
}

func TestAnActionThatIsNoStreamRefusesTheFormOfStreams(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	if status, answer := post(t, url+"/test.v1.Calc/Add", "application/connect+proto", ""); status != 415 {
		t.Errorf("%d %s", status, answer)
	}
}

// The handler ends while the end of the request may still be on its way to it.
func TestAStreamThatEndsAtOnceLeavesItsConnectionToTheNextCall(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	for _, i := range []int{1, 4} { // over HTTP/1.1
		d := dialects[i]
		t.Run(d.name, func(t *testing.T) {
			connection := client(t, true)
			options := append([]connect.ClientOption{connect.WithCodec(structs{})}, d.options...)
			count := connect.NewClient[sumIn, sumOut](connection, url+"/test.v1.Calc/Count", options...)
			add := connect.NewClient[sumIn, sumOut](connection, url+"/test.v1.Calc/Add", options...)
			for range 500 {
				stream, err := count.CallServerStream(t.Context(), connect.NewRequest(&sumIn{2, 1}))
				if err != nil {
					t.Fatal(err)
				}
				for stream.Receive() {
				}
				wantCode(t, stream.Err(), connect.CodeFailedPrecondition)
				stream.Close()
				if _, err := add.CallUnary(t.Context(), connect.NewRequest(&sumIn{1, 2})); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// net/http does not answer a request of HTTP/1.1 before its end unless it is made to, and this caller sends no end before it has the answer.
func TestAStreamOverHTTP1ThatEndsBeforeItsCallerSaysWhy(t *testing.T) {
	s := sabir.NewService("early")
	sabir.HandleStream(s, "end", func(context.Context, *sabir.Stream[sabir.Empty, text]) error {
		return sabir.NewError(sabir.CodeAborted, "Enough", "enough")
	}, sabir.ClientStream())
	_, node := serve(t, []sabir.Servable{s})
	const message = "\x00\x00\x00\x00\x02{}"
	for range 5 { // whether the message or the end comes first is left to chance
		conn, err := net.Dial("tcp", node.HTTPAddr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /early.Early/End HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/connect+json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(message), message)
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(answer.Body); err != nil || !answer.Close || !strings.Contains(string(body), `"code":"aborted","message":"enough"`) {
			t.Errorf("got %q, %v, closes %t", body, err, answer.Close)
		}
	}
}
