// HTTP shows a node that serves its public actions as POST /service/action, and what callers are answered to a good
// input, an invalid one, and a wrong address.
//
//	go run ./examples/http
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/web" // serves sabir.HTTP
)

type SignUp struct {
	Name  string `json:"name" validate:"required,max=64"`
	Email string `json:"email" validate:"required,email"`
}

type User struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	users := sabir.NewService("users")
	sabir.Handle(users, "create", func(_ context.Context, in SignUp) (User, error) {
		return User{7, in.Name}, nil
	})
	sabir.Handle(users, "purge", func(context.Context, struct{}) (struct{}, error) {
		return struct{}{}, nil
	}, sabir.Visible(sabir.Private)) // for this node's services only: HTTP does not know it

	// Port 0 takes a free one. ":3000" is port 3000 for this machine only; for others name a host and set sabir.HTTPKey.
	node := sabir.NewNode(sabir.Serve(users), sabir.HTTP("127.0.0.1:0"))
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(ctx)

	base := "http://" + node.HTTPAddr()
	for _, request := range []struct{ path, body string }{
		{"/users/create", `{"name":"Ada","email":"ada@example.org"}`},
		{"/users/create", `{"name":"","email":"ada"}`},
		{"/users/create", `{"name":7}`},
		{"/users/creat", `{}`},
		{"/users/purge", `{}`},
	} {
		if err := post(ctx, base, request.path, request.body); err != nil {
			return err
		}
	}
	return nil
}

// post prints what the node answers: the action's output, or an error as a problem document (RFC 9457).
func post(ctx context.Context, base, path, body string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	fmt.Println("POST", path, body)
	if response.StatusCode == http.StatusOK {
		fmt.Printf("  %s: %s\n", response.Status, answer)
		return nil
	}
	var problem struct {
		Name   string `json:"name"`
		Detail string `json:"detail"`
		Data   any    `json:"data"`
	}
	if err := json.Unmarshal(answer, &problem); err != nil {
		return err
	}
	fmt.Printf("  %s: %s: %s\n", response.Status, problem.Name, problem.Detail)
	if fields, ok := problem.Data.([]any); ok {
		fmt.Println("  fields to mend:", len(fields))
	}
	return nil
}
