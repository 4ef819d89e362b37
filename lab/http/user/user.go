// Package user has what every server of the HTTP comparison serves: the document of hello, the user of updateUser with its
// rules in the tags of all libraries, and a JSON codec for it that is written by hand, for the rows that show the limit.
package user

import "time"

// Hello is the answer of hello.
type Hello struct {
	Hello string `json:"hello"`
}

// World is the answer of hello.
var World = Hello{Hello: "world"}

// MaxName is the greatest length of a name, in characters.
const MaxName = 64

// User comes in and goes out of updateUser. The rules are the same in each library's words: validate is
// go-playground/validator and Sabir, binding is gin, the rest is huma.
type User struct {
	ID         int64     `json:"id" validate:"gte=0" binding:"gte=0" minimum:"0"`
	Name       string    `json:"name" validate:"required,max=64" binding:"required,max=64" minLength:"1" maxLength:"64"`
	Surname    string    `json:"surname" validate:"required,max=64" binding:"required,max=64" minLength:"1" maxLength:"64"`
	LastUpdate time.Time `json:"lastUpdate" validate:"required" binding:"required"`
}

// Later is the duration that updateUser adds to the date, so that no server can answer with the text of the request.
const Later = 24 * time.Hour

// Updated is the user as updateUser answers it.
func (u User) Updated() User {
	u.LastUpdate = u.LastUpdate.Add(Later)
	return u
}
