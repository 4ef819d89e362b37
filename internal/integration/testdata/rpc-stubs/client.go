// Command client calls the service test.v1.Counter at the address in its first argument by the stubs of protoc-gen-go-grpc.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/sabir-go/sabir/internal/integration/stubs/pb"
)

func main() {
	connection, err := grpc.NewClient("passthrough:///"+os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err)
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := pb.NewCounterClient(connection)

	twice, err := client.Double(ctx, &pb.Number{Value: 21})
	check(err)
	want(twice.GetValue(), 42)

	below, err := client.Below(ctx, &pb.Number{Value: 3})
	check(err)
	for i := range int64(3) {
		got, err := below.Recv()
		check(err)
		want(got.GetValue(), i)
	}
	if _, err := below.Recv(); !errors.Is(err, io.EOF) {
		log.Fatal(err)
	}

	sum, err := client.Sum(ctx)
	check(err)
	check(sum.Send(&pb.Number{Value: 2}))
	check(sum.Send(&pb.Number{Value: 3}))
	total, err := sum.CloseAndRecv()
	check(err)
	want(total.GetValue(), 5)
	refused, err := client.Sum(ctx)
	check(err)
	check(refused.Send(&pb.Number{Value: 1 << 40}))
	if _, err := refused.CloseAndRecv(); status.Code(err) != codes.InvalidArgument {
		log.Fatal(err)
	}

	each, err := client.Each(ctx)
	check(err)
	check(each.Send(&pb.Number{Value: 1}))
	one, err := each.Recv()
	check(err)
	want(one.GetValue(), 0)
	check(each.CloseSend())
	if _, err := each.Recv(); !errors.Is(err, io.EOF) {
		log.Fatal(err)
	}
	fmt.Println("grpc-go")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func want(got, want int64) {
	if got != want {
		log.Fatalf("%d, want %d", got, want)
	}
}
