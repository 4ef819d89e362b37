// Validation shows rules in struct tags, which are checked before the handler runs: what a caller learns about every
// field, and how to add a rule and a message of your own.
//
//	go run ./examples/validation
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/go-playground/validator/v10"
	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/validate"
	"github.com/sabir-go/sabir/validate/playground"
)

// SignUp is checked by the tags of go-playground/validator and by the rule "handle", which is ours.
type SignUp struct {
	Handle   string   `json:"handle" validate:"required,handle"`
	Email    string   `json:"email" validate:"required,email"`
	Age      int      `json:"age" validate:"gte=18,lte=150"`
	Tags     []string `json:"tags" validate:"max=10,dive,max=8"`
	Password string   `json:"password" validate:"min=12" sabir:"secret"` // never given back to the caller
}

type User struct {
	Handle string `json:"handle"`
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	users := sabir.NewService("users")
	sabir.Handle(users, "create", func(_ context.Context, in SignUp) (User, error) {
		return User{in.Handle}, nil // the input is valid here
	})

	rules := validate.New()
	err := errors.Join(
		playground.RegisterValidation(rules, "handle", func(field validator.FieldLevel) bool {
			return strings.HasPrefix(field.Field().String(), "@")
		}),
		rules.SetMessage("handle", "{0} must begin with @"),
	)
	if err != nil {
		return err
	}

	node := sabir.NewNode(sabir.Serve(users), sabir.Validator(rules))
	if err := node.Start(ctx); err != nil { // a tag that cannot work would be found here
		return err
	}
	defer node.Stop(ctx)

	good := SignUp{"@ada", "ada@example.org", 36, []string{"math"}, "correct horse battery"}
	user, err := sabir.Call[User](ctx, node, "users.create", good)
	if err != nil {
		return err
	}
	fmt.Println("created", user.Handle)

	bad := SignUp{"ada", "ada at example.org", 7, []string{"math", "engineering"}, "secret"}
	_, err = sabir.Call[User](ctx, node, "users.create", bad)
	if !errors.Is(err, sabir.ErrValidationFailed) {
		return fmt.Errorf("want a validation error, got: %w", err)
	}
	fields, err := sabir.DataAs[validate.Errors](sabir.AsError(err))
	if err != nil {
		return err
	}
	for _, field := range fields {
		fmt.Printf("%s (%s): %s, got %v\n", field.Path, field.Rule, field.Message, field.Value)
	}
	return nil
}
