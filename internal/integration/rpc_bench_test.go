//go:build unix

package integration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	testing_pb "google.golang.org/grpc/interop/grpc_testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/rpc"
)

// rpcServerVariable makes this program the server of BenchmarkCPUOfUnaryCalls that its value names.
const rpcServerVariable = "SABIR_RPC_SERVER"

func init() { programs[rpcServerVariable] = serveForCPU }

// echoServer is grpc-go's server with generated code.
type echoServer struct {
	testing_pb.UnimplementedTestServiceServer
}

func (echoServer) UnaryCall(_ context.Context, in *testing_pb.SimpleRequest) (*testing_pb.SimpleResponse, error) {
	return &testing_pb.SimpleResponse{Payload: in.GetPayload()}, nil
}

// serveForCPU prints its address, then the CPU time of the process for each line that it reads, in nanoseconds, and ends with its input.
func serveForCPU(kind string) error {
	switch kind {
	case "grpc-go", "net-http", "connect-go":
		at, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		fmt.Println(at.Addr())
		if kind == "grpc-go" {
			server := grpc.NewServer()
			testing_pb.RegisterTestServiceServer(server, echoServer{})
			go server.Serve(at)
			defer server.Stop()
			break
		}
		server := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(echoBytes)}
		server.Protocols.SetUnencryptedHTTP2(true)
		if kind == "connect-go" {
			server.Handler = connect.NewUnaryHandler("/", func(_ context.Context, in *connect.Request[testing_pb.SimpleRequest]) (*connect.Response[testing_pb.SimpleResponse], error) {
				return connect.NewResponse(&testing_pb.SimpleResponse{Payload: in.Msg.GetPayload()}), nil
			})
		}
		go httpstrict.Serve(server, at)
		defer server.Close()
	default:
		s := sabir.NewService("test-service", sabir.Use(rpc.Package("grpc.testing")))
		if kind == "structs" {
			sabir.Handle(s, "unary-call", func(_ context.Context, in testRequest) (testResponse, error) {
				return testResponse{Payload: in.Payload}, nil
			})
		} else {
			sabir.Handle(s, "unary-call", func(_ context.Context, in *testing_pb.SimpleRequest) (*testing_pb.SimpleResponse, error) {
				return &testing_pb.SimpleResponse{Payload: in.GetPayload()}, nil
			})
		}
		node := sabir.NewNode(sabir.Serve(s), sabir.HTTP("127.0.0.1:0", rpc.Serve()), sabir.Logger(slog.New(slog.DiscardHandler)))
		if err := node.Start(context.Background()); err != nil {
			return err
		}
		defer node.Stop(context.Background())
		fmt.Println(node.HTTPAddr())
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			return err
		}
		fmt.Println(used.Utime.Nano() + used.Stime.Nano())
	}
	return nil
}

// echoBytes does as little as a handler of net/http can do for a call: no package that serves gRPC over net/http takes less.
func echoBytes(w http.ResponseWriter, r *http.Request) {
	message, err := io.ReadAll(r.Body)
	if err != nil || len(message) < 6 {
		panic(http.ErrAbortHandler)
	}
	message[5] = 1<<3 | 2 // the payload is the first field of the answer, and the third one of the request
	w.Header()["Content-Type"] = []string{"application/grpc"}
	w.Write(message)
	w.Header()[http.TrailerPrefix+"Grpc-Status"] = []string{"0"}
}

// rpcServer is a server in a process of its own.
type rpcServer struct {
	in      io.Writer
	out     *bufio.Reader
	address string
}

func startRPCServer(b *testing.B, kind string) *rpcServer {
	b.Helper()
	run := exec.Command(os.Args[0])
	run.Env, run.Stderr = append(os.Environ(), rpcServerVariable+"="+kind), os.Stderr
	in, err := run.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := run.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		run.Wait()
	})
	s := &rpcServer{in: in, out: bufio.NewReader(out)}
	s.address = s.line(b)
	return s
}

func (s *rpcServer) line(b *testing.B) string {
	b.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (s *rpcServer) cpu(b *testing.B) time.Duration {
	b.Helper()
	fmt.Fprintln(s.in)
	used, err := strconv.ParseInt(s.line(b), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(used)
}

// BenchmarkCPUOfUnaryCalls measures the CPU that a server takes for a call, under 100 callers of grpc-go over one connection: grpc-go's server
// and connect-go's with generated code, a handler of net/http that does nothing else, and a node with generated messages and with plain structs. On a quiet machine:
//
//	go test ./internal/integration -run ^$ -bench CPUOfUnaryCalls -benchtime 100000x -count 5
func BenchmarkCPUOfUnaryCalls(b *testing.B) {
	const callers = 100
	for _, size := range []int{100, 677} {
		for _, kind := range []string{"grpc-go", "net-http", "connect-go", "generated", "structs"} {
			b.Run(fmt.Sprintf("%s/%d", kind, size), func(b *testing.B) {
				server := startRPCServer(b, kind)
				connection, err := grpc.NewClient("passthrough:///"+server.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
				if err != nil {
					b.Fatal(err)
				}
				defer connection.Close()
				client, in := testing_pb.NewTestServiceClient(connection), &testing_pb.SimpleRequest{Payload: &testing_pb.Payload{Body: make([]byte, size)}}
				call := func(calls int) {
					var running sync.WaitGroup
					for caller := range callers {
						running.Go(func() {
							for i := caller; i < calls; i += callers {
								if out, err := client.UnaryCall(b.Context(), in); err != nil || len(out.GetPayload().GetBody()) != size {
									b.Error(err)
									return
								}
							}
						})
					}
					running.Wait()
				}
				call(10_000) // so that both sides are warm
				before := server.cpu(b)
				b.ResetTimer()
				call(b.N)
				b.ReportMetric(float64((server.cpu(b)-before).Nanoseconds())/float64(b.N), "server-cpu-ns/call")
			})
		}
	}
}
