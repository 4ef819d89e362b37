// Command fasthttp-sabir serves hello and updateUser with fasthttp and Sabir's own JSON codec and validation, so that what is
// left between it and Sabir is the HTTP engine and what a node does for a call.
package main

import (
	"log"
	"os"
	"reflect"
	"unsafe"

	"github.com/valyala/fasthttp"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/lab/http/user"
	"github.com/sabir-go/sabir/validate"
)

var rules *validate.Plan

func main() {
	var err error
	if rules, err = validate.New().Compile(reflect.TypeFor[user.User]()); err != nil {
		log.Fatal(err)
	}
	log.Fatal(fasthttp.ListenAndServe(os.Args[1], serve))
}

func serve(c *fasthttp.RequestCtx) {
	switch path := string(c.Path()); {
	case path == "/hello" && c.IsGet():
		answer(c, &user.World)
	case path == "/updateUser" && c.IsPost():
		updateUser(c)
	default:
		c.NotFound()
	}
}

func updateUser(c *fasthttp.RequestCtx) {
	var u user.User
	if err := json.Codec.Decode(c.PostBody(), &u); err != nil {
		c.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	if err := rules.Check(unsafe.Pointer(&u)); err != nil {
		c.Error(err.Error(), fasthttp.StatusUnprocessableEntity)
		return
	}
	u = u.Updated()
	answer(c, &u)
}

func answer(c *fasthttp.RequestCtx, value any) {
	c.SetContentType("application/json")
	body, err := json.Codec.Append(c.Response.Body(), value)
	if err != nil {
		c.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	c.Response.SetBodyRaw(body)
}
