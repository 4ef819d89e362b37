// Command sabir serves hello and updateUser with Sabir as a user writes it. Its arguments are the address and, for cold
// starts, how many more actions with a route there are.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/lab/http/user"
	_ "github.com/sabir-go/sabir/web"
)

func main() {
	users := sabir.NewService("users")
	sabir.Handle(users, "hello", hello, sabir.Route("GET", "/hello"))
	sabir.Handle(users, "updateUser", updateUser, sabir.Route("POST", "/updateUser"))
	if len(os.Args) > 2 {
		more, err := strconv.Atoi(os.Args[2])
		if err != nil {
			log.Fatal(err)
		}
		for i := range more {
			sabir.Handle(users, fmt.Sprint("update", i), updateUser, sabir.Route("POST", fmt.Sprintf("/users%d/{id}/update", i)))
		}
	}
	node := sabir.NewNode(sabir.Serve(users), sabir.HTTP(os.Args[1]))
	if err := node.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	select {}
}

func hello(context.Context, struct{}) (user.Hello, error) { return user.World, nil }

func updateUser(_ context.Context, u user.User) (user.User, error) { return u.Updated(), nil }
