package auth_test

import (
	"context"
	"fmt"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
)

func ExampleRequire() {
	users := sabir.NewService("users")
	sabir.Handle(users, "delete", func(ctx context.Context, id string) (string, error) {
		who, _ := auth.FromContext(ctx)
		return who.Subject + " deleted " + id, nil
	}, sabir.Use(auth.Require("admin")))
	node := sabir.NewNode(sabir.Serve(users))
	ctx := context.Background()
	if err := node.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer node.Stop(ctx)

	for _, p := range []auth.Principal{{}, {Subject: "bob"}, {Subject: "ada", Roles: []string{"admin"}}} {
		out, err := sabir.Call[string](auth.As(ctx, p), node, "users.delete", "7")
		if err != nil {
			out = sabir.AsError(err).Name
		}
		fmt.Println(out)
	}
	// Output:
	// NotSignedIn
	// NotAllowed
	// ada deleted 7
}

func ExampleCheckPassword() {
	hash, err := auth.HashPassword("correct horse battery staple")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(auth.CheckPassword(hash, "correct horse battery staple"), auth.CheckPassword(hash, "guess"))
	// Output: true false
}
