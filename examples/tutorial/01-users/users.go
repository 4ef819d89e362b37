// Package users is the first service of the tutorial: who may order.
package users

import (
	"context"

	"github.com/sabir-go/sabir"
)

// doc: contract
type GetUser struct {
	ID string `json:"id" validate:"required"`
}

type User struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Blocked bool   `json:"blocked"`
}

// Get is the contract of the action users.get.
var Get = sabir.NewAction[GetUser, User]("users.get")

// ErrNoSuchUser is the error of Get for an unknown ID.
var ErrNoSuchUser = sabir.NewError(sabir.CodeNotFound, "NoSuchUser", "there is no such user")

// end

// doc: service
var known = map[string]User{
	"u-1": {ID: "u-1", Name: "Ada"},
	"u-2": {ID: "u-2", Name: "Ben", Blocked: true},
}

// New makes the service.
func New() *sabir.Service {
	s := sabir.NewService("users", sabir.Doc("knows who may order"))
	Get.Handle(s, get)
	return s
}

func get(_ context.Context, in GetUser) (User, error) {
	user, ok := known[in.ID]
	if !ok {
		return User{}, ErrNoSuchUser.WithData(map[string]string{"id": in.ID})
	}
	return user, nil
}

// end
