// Command gin serves hello and updateUser with gin and the validation of its binding.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"

	"github.com/sabir-go/sabir/lab/http/user"
)

func main() {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/hello", func(c *gin.Context) { c.JSON(http.StatusOK, user.World) })
	r.POST("/updateUser", func(c *gin.Context) {
		var u user.User
		if err := c.ShouldBindJSON(&u); err != nil {
			c.JSON(http.StatusUnprocessableEntity, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, u.Updated())
	})
	log.Fatal(r.Run(os.Args[1]))
}
