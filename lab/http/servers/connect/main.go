// Command connect serves hello and updateUser with connect-go, JSON of protobuf messages, and rules that are checked by hand.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"unicode/utf8"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/sabir-go/sabir/lab/http/user"
	pb "github.com/sabir-go/sabir/lab/http/userpb"
)

func main() {
	const hello, update = "/lab.Users/Hello", "/lab.Users/UpdateUser"
	http.Handle(hello, connect.NewUnaryHandler(hello,
		func(context.Context, *connect.Request[pb.HelloRequest]) (*connect.Response[pb.Hello], error) {
			return connect.NewResponse(&pb.Hello{Hello: user.World.Hello}), nil
		}, connect.WithIdempotency(connect.IdempotencyNoSideEffects)))
	http.Handle(update, connect.NewUnaryHandler(update, updateUser))
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}

func updateUser(_ context.Context, r *connect.Request[pb.User]) (*connect.Response[pb.User], error) {
	u := r.Msg
	if u.Id < 0 || !goodName(u.Name) || !goodName(u.Surname) || !u.LastUpdate.IsValid() {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("the user breaks a rule"))
	}
	u.LastUpdate = timestamppb.New(u.LastUpdate.AsTime().Add(user.Later))
	return connect.NewResponse(u), nil
}

func goodName(name string) bool {
	return name != "" && utf8.RuneCountInString(name) <= user.MaxName
}
