//go:build unix

package faults_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/rpc"
	"github.com/sabir-go/sabir/web"
)

// tick is a value of the streams work.ticks and front.ticks.
type tick struct {
	Number int64 `json:"number"`
}

// ticksOf is the input of front.ticks: the node whose stream it passes on.
type ticksOf struct {
	Node string `json:"node"`
}

// startDoors runs a node in the test's own process that serves gRPC and MCP and passes on what other nodes do. It returns the URL of its
// HTTP side.
func startDoors(t *testing.T, seed string) string {
	t.Helper()
	front := sabir.NewService("front")
	sabir.HandleStream(front, "ticks", func(ctx context.Context, stream *sabir.Stream[ticksOf, tick]) error {
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		from, err := sabir.OpenStream[sabir.Empty, tick](ctx, front, "work.ticks", sabir.ToNode(in.Node))
		if err != nil {
			return err
		}
		defer from.Close()
		for one, err := range from.All() {
			if err != nil {
				return err
			}
			if err := stream.Send(one); err != nil {
				return err
			}
		}
		return nil
	}, sabir.ServerStream())
	node := sabir.NewNode(sabir.NodeID("doors"), sabir.Serve(front), sabir.Join("tcp://127.0.0.1:0", cluster.Config{Seeds: []string{seed}, Name: "faults"}),
		sabir.HTTP("127.0.0.1:0", rpc.Serve(), web.With(web.Config{Forward: []string{"work.*"}}), mcp.At("/mcp", mcp.Config{Tools: []string{"work.*"}})))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		if err := node.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return "http://" + node.HTTPAddr()
}

// structs is the codec of plain structs for connect's client.
type structs struct{}

func (structs) Name() string                       { return "proto" }
func (structs) Marshal(v any) ([]byte, error)      { return protobuf.Codec.Append(nil, v) }
func (structs) Unmarshal(data []byte, v any) error { return protobuf.Codec.Decode(data, v) }

// loss is a way in which a node is lost, and the time in which its callers must learn of it.
var losses = []struct {
	name   string
	lose   func(*process)
	within time.Duration
}{
	{"killed", (*process).kill, late},
	{"stopped", (*process).suspend, givenUp},
}

func TestANodeThatIsLostUnderAStreamOfGRPCEndsThatStreamWithAStatus(t *testing.T) {
	t.Parallel()
	for _, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			t.Parallel()
			healthy := start(t, setup{ID: "healthy", Works: true})
			lost := start(t, setup{ID: "lost", Works: true, Seeds: []string{healthy.addr}})
			url := startDoors(t, healthy.addr)
			transport := &http.Transport{Protocols: new(http.Protocols)}
			transport.Protocols.SetUnencryptedHTTP2(true) // all streams go over one connection
			t.Cleanup(transport.CloseIdleConnections)
			ctx, leave := context.WithCancel(t.Context())
			open := func(node string, options ...connect.ClientOption) *connect.ServerStreamForClient[tick] {
				t.Helper()
				client := connect.NewClient[ticksOf, tick](&http.Client{Transport: transport}, url+"/front.Front/Ticks", append(options, connect.WithCodec(structs{}))...)
				var stream *connect.ServerStreamForClient[tick]
				var err error
				defer func() {
					if t.Failed() {
						t.Logf("the stream of %s: %v", node, err)
					}
				}()
				until(t, waitLimit, "the node of the doors knows the node", func() bool {
					stream, err = client.CallServerStream(ctx, connect.NewRequest(&ticksOf{node}))
					if err == nil && stream.Receive() {
						return true
					}
					if err == nil {
						err = stream.Err()
						stream.Close()
					}
					return false
				})
				t.Cleanup(func() { leave(); stream.Close() })
				return stream
			}
			stays := open("healthy", connect.WithGRPC())
			under := map[string]*connect.ServerStreamForClient[tick]{"gRPC": open("lost", connect.WithGRPC()), "gRPC-Web": open("lost", connect.WithGRPCWeb()), "Connect": open("lost")}
			began := time.Now()
			loss.lose(lost)
			for protocol, stream := range under {
				for stream.Receive() {
				}
				failed, reason := connect.CodeOf(stream.Err()), ""
				if e, ok := stream.Err().(*connect.Error); ok {
					for _, d := range e.Details() {
						if v, err := d.Value(); err == nil {
							if info, ok := v.(*errdetails.ErrorInfo); ok {
								reason = info.GetReason()
							}
						}
					}
				}
				if failed != connect.CodeUnavailable || reason != "LinkLost" {
					t.Errorf("%s: %v %q: %v", protocol, failed, reason, stream.Err())
				}
			}
			took := time.Since(began)
			t.Logf("the streams ended %v after their node was lost", took)
			if took > loss.within {
				t.Errorf("the streams ended after %v, want at most %v", took, loss.within)
			}
			for range 10 {
				if !stays.Receive() {
					t.Fatalf("a stream of another node over the same connection ended: %v", stays.Err())
				}
			}
			leave()
			until(t, waitLimit, "no handler is left", func() bool { return healthy.figures().Held == 0 })
		})
	}
}

func TestANodeThatIsLostUnderAToolIsAnErrorForTheModel(t *testing.T) {
	t.Parallel()
	for _, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			t.Parallel()
			server := start(t, setup{ID: "server", Works: true})
			url := startDoors(t, server.addr)
			base := &http.Transport{}
			t.Cleanup(base.CloseIdleConnections)
			session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
				&sdk.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: base}, MaxRetries: -1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { session.Close() })
			until(t, waitLimit, "the action of the other node is a tool", func() bool {
				list, err := session.ListTools(t.Context(), nil)
				return err == nil && strings.Contains(mustJSON(t, list.Tools), `"work_hold"`)
			})
			type answered struct {
				result *sdk.CallToolResult
				err    error
			}
			answer := make(chan answered, 1)
			go func() {
				result, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: "work_hold"})
				answer <- answered{result, err}
			}()
			until(t, waitLimit, "the handler runs", func() bool { return server.figures().Held == 1 })
			began := time.Now()
			loss.lose(server)
			a := <-answer
			took := time.Since(began)
			if a.err != nil || !a.result.IsError || !strings.Contains(mustJSON(t, a.result.Content), `\"error\":\"LinkLost\",\"code\":\"Unavailable\"`) {
				t.Errorf("%v %s", a.err, mustJSON(t, a.result))
			}
			if t.Logf("the call ended %v after its node was lost", took); took > loss.within {
				t.Errorf("want at most %v", loss.within)
			}
			server.signal(syscall.SIGCONT)
			if _, err := session.ListTools(t.Context(), nil); err != nil {
				t.Errorf("the next request of the client: %v", err)
			}
		})
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
