// Command fiber-sonic serves hello and updateUser with fiber 2, sonic and go-playground/validator.
package main

import (
	"log"
	"os"

	"github.com/bytedance/sonic"
	"github.com/go-playground/validator/v10"
	"github.com/gofiber/fiber/v2"

	"github.com/sabir-go/sabir/lab/http/user"
)

func main() {
	rules := validator.New(validator.WithRequiredStructEnabled())
	f := fiber.New(fiber.Config{DisableStartupMessage: true, JSONEncoder: sonic.Marshal, JSONDecoder: sonic.Unmarshal})
	f.Get("/hello", func(c *fiber.Ctx) error { return c.JSON(user.World) })
	f.Post("/updateUser", func(c *fiber.Ctx) error {
		var u user.User
		if err := c.BodyParser(&u); err != nil {
			return fiber.NewError(fiber.StatusBadRequest, err.Error())
		}
		if err := rules.Struct(&u); err != nil {
			return fiber.NewError(fiber.StatusUnprocessableEntity, err.Error())
		}
		return c.JSON(u.Updated())
	})
	log.Fatal(f.Listen(os.Args[1]))
}
