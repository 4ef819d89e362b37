// Command fasthttp-sonic serves hello and updateUser with fasthttp, sonic and go-playground/validator.
package main

import (
	"log"
	"os"

	"github.com/bytedance/sonic"
	"github.com/go-playground/validator/v10"
	"github.com/valyala/fasthttp"

	"github.com/sabir-go/sabir/lab/http/user"
)

var rules = validator.New(validator.WithRequiredStructEnabled())

func main() { log.Fatal(fasthttp.ListenAndServe(os.Args[1], serve)) }

func serve(c *fasthttp.RequestCtx) {
	switch path := string(c.Path()); {
	case path == "/hello" && c.IsGet():
		answer(c, user.World)
	case path == "/updateUser" && c.IsPost():
		updateUser(c)
	default:
		c.NotFound()
	}
}

func updateUser(c *fasthttp.RequestCtx) {
	var u user.User
	if err := sonic.Unmarshal(c.PostBody(), &u); err != nil {
		c.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	if err := rules.Struct(&u); err != nil {
		c.Error(err.Error(), fasthttp.StatusUnprocessableEntity)
		return
	}
	answer(c, u.Updated())
}

func answer(c *fasthttp.RequestCtx, value any) {
	c.SetContentType("application/json")
	text, err := sonic.Marshal(value)
	if err != nil {
		c.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	c.Response.SetBodyRaw(text)
}
