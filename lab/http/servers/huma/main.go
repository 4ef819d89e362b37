// Command huma serves hello and updateUser with huma on net/http, with its default configuration. Its arguments are the
// address and, for cold starts, how many more operations there are.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/sabir-go/sabir/lab/http/user"
)

type message[T any] struct{ Body T }

func main() {
	mux := http.NewServeMux()
	api := humago.New(mux, huma.DefaultConfig("users", "1"))
	huma.Get(api, "/hello", func(context.Context, *struct{}) (*message[user.Hello], error) {
		return &message[user.Hello]{Body: user.World}, nil
	})
	huma.Post(api, "/updateUser", updateUser)
	if len(os.Args) > 2 {
		more, err := strconv.Atoi(os.Args[2])
		if err != nil {
			log.Fatal(err)
		}
		for i := range more {
			huma.Post(api, fmt.Sprintf("/users%d/update", i), updateUser)
		}
	}
	log.Fatal(http.ListenAndServe(os.Args[1], mux))
}

func updateUser(_ context.Context, in *message[user.User]) (*message[user.User], error) {
	return &message[user.User]{Body: in.Body.Updated()}, nil
}
