// Command gomicro makes calls from one process to another by go-micro, each as the lab orders it; see package work. It is a program
// of its own because go-micro puts other codecs into gRPC for the whole process, which other contenders should not have.
package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

func main() { work.Main(contenders()) }

// contenders returns all contenders of this program.
func contenders() []work.Contender { return slices.Concat(v1Contenders(), v5Contenders()) }

const (
	// requestTimeout limits a request, since go-micro has no request without a limit.
	requestTimeout = 30 * time.Second
	// firstTimeout limits the first request, which is tried again.
	firstTimeout = time.Second

	contentType = "application/protobuf"

	// queue is the server's address where it is not that of a socket: the name of a queue, a subject, a name in memory.
	queue = "127.0.0.1:4711"
)

// answered waits until the server answers: over a broker it is not there yet when its Start returns.
func answered(call func(ctx context.Context, request *message.Proto) (*message.Proto, error)) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	var err error
	for begun := time.Now(); time.Since(begun) < requestTimeout; <-again.C {
		ctx, cancel := context.WithTimeout(context.Background(), firstTimeout)
		_, err = call(ctx, message.NewProto())
		cancel()
		if err == nil {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("go-micro's server has not answered within %v", requestTimeout), err)
}

// GoMicroHello is exported because go-micro finds only such handlers.
type GoMicroHello struct{}

// Say answers the message.
func (GoMicroHello) Say(_ context.Context, in, out *message.Proto) error {
	out.CopyFrom(in)
	out.Answer()
	return nil
}
