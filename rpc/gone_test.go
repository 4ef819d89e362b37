package rpc_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/rpc"
)

// lines keeps what is logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func TestACallerThatGoesIsNoFailureInTheLog(t *testing.T) {
	ended, started := make(chan struct{}, 2), make(chan struct{}, 2)
	s := sabir.NewService("endless", sabir.Use(rpc.Package("test.v1")))
	sabir.Handle(s, "wait", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		started <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return sabir.Empty{}, ctx.Err()
	})
	sabir.HandleStream(s, "send", func(_ context.Context, stream *sabir.Stream[sabir.Empty, text]) error {
		defer func() { ended <- struct{}{} }()
		for {
			if err := stream.Send(text{strings.Repeat("x", 1000)}); err != nil {
				return err
			}
		}
	}, sabir.ServerStream())
	log := &lines{}
	node := sabir.NewNode(sabir.Serve(s), sabir.HTTP("127.0.0.1:0", rpc.Serve()), sabir.Logger(slog.New(slog.NewTextHandler(log, nil))))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, d dialect) {
		options := append([]connect.ClientOption{connect.WithCodec(structs{})}, d.options...)
		ctx, leave := context.WithCancel(t.Context())
		stream, err := connect.NewClient[sabir.Empty, text](client(t, d.http1), "http://"+node.HTTPAddr()+"/test.v1.Endless/Send", options...).CallServerStream(ctx, connect.NewRequest(&sabir.Empty{}))
		if err != nil || !stream.Receive() {
			t.Fatal(err, stream.Err())
		}
		leave()
		stream.Close()
		<-ended
		ctx, leave = context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := connect.NewClient[sabir.Empty, sabir.Empty](client(t, d.http1), "http://"+node.HTTPAddr()+"/test.v1.Endless/Wait", options...).CallUnary(ctx, connect.NewRequest(&sabir.Empty{}))
			done <- err
		}()
		<-started
		leave()
		if err := <-done; err == nil {
			t.Error("the call has an answer")
		}
		<-ended
	})
	if err := node.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if text := log.text.String(); strings.Contains(text, "level=ERROR") {
		t.Error(text)
	}
}

func TestTheLineOfACallThatFailedNamesItsRequestAndTrace(t *testing.T) {
	s := sabir.NewService("disk", sabir.Use(rpc.Package("test.v1")))
	sabir.Handle(s, "fail", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, errors.New("the disk is gone")
	})
	log := &lines{}
	node := sabir.NewNode(sabir.Serve(s), sabir.HTTP("127.0.0.1:0", rpc.Serve()), sabir.Logger(slog.New(slog.NewTextHandler(log, nil))))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, d dialect) {
		request := connect.NewRequest(&sabir.Empty{})
		request.Header().Set("X-Request-Id", "r-"+t.Name())
		request.Header().Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		options := append([]connect.ClientOption{connect.WithCodec(structs{})}, d.options...)
		if _, err := connect.NewClient[sabir.Empty, sabir.Empty](client(t, d.http1), "http://"+node.HTTPAddr()+"/test.v1.Disk/Fail", options...).CallUnary(t.Context(), request); err == nil {
			t.Error("the call has an answer")
		}
	})
	if err := node.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	text := log.text.String()
	if failed := strings.Count(text, "level=ERROR"); failed == 0 || strings.Count(text, "request_id=r-") != failed || strings.Count(text, " trace_id=0af7651916cd43dd8448eb211c80319c ") != failed {
		t.Errorf("%d lines, of which not all name their request: %s", failed, text)
	}
}
