package typescript_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/internal/typescript"
)

func ExampleWrite() {
	id := &schema.Schema{Type: schema.Types{"integer"}, Format: "int64"}
	described := api.API{Title: "Shop", Version: "1", Actions: []api.Action{
		{Name: "users.get", Path: "/users/get", Description: "A user by id.",
			In: &schema.Schema{Type: schema.Types{"object"}, Properties: schema.Properties{{Name: "id", Schema: id}}, Required: []string{"id"}}},
	}}
	var module bytes.Buffer
	if err := typescript.Write(&module, described); err != nil {
		fmt.Println(err)
		return
	}
	_, namespace, _ := strings.Cut(module.String(), "export interface UsersApi ")
	namespace, _, _ = strings.Cut(namespace, "\n}")
	fmt.Println(namespace)
	// Output:
	// {
	//   /** A user by id. */
	//   get(input: UsersGetInput, options?: CallOptions): Call<void, UsersGetError>;
}
