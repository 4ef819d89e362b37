// Command hertz serves hello and updateUser with hertz, its JSON (sonic) and go-playground/validator.
package main

import (
	"context"
	"os"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/hlog"
	"github.com/cloudwego/hertz/pkg/protocol"
	"github.com/cloudwego/hertz/pkg/protocol/consts"
	"github.com/go-playground/validator/v10"

	"github.com/sabir-go/sabir/lab/http/user"
)

func main() {
	hlog.SetLevel(hlog.LevelError)
	rules := validator.New(validator.WithRequiredStructEnabled())
	h := server.New(server.WithHostPorts(os.Args[1]),
		server.WithCustomValidatorFunc(func(_ *protocol.Request, value any) error { return rules.Struct(value) }))
	h.GET("/hello", func(_ context.Context, c *app.RequestContext) { c.JSON(consts.StatusOK, user.World) })
	h.POST("/updateUser", func(_ context.Context, c *app.RequestContext) {
		var u user.User
		if err := c.BindAndValidate(&u); err != nil {
			c.String(consts.StatusUnprocessableEntity, err.Error())
			return
		}
		c.JSON(consts.StatusOK, u.Updated())
	})
	h.Spin()
}
