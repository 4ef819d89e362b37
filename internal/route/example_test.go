package route_test

import (
	"fmt"
	"reflect"

	"github.com/sabir-go/sabir/internal/route"
)

func ExampleNew() {
	type Search struct {
		Team   string   `json:"team"`
		Tags   []string `json:"tags"`
		Page   int      `json:"page" query:"p"`
		Tenant string   `json:"tenant" header:"X-Tenant"`
	}
	r, err := route.New("GET", "/teams/{team}/users", reflect.TypeFor[Search]())
	if err != nil {
		panic(err)
	}
	for _, p := range r.Params {
		fmt.Println(p.Field, "is", p.Kind, "from the", p.In, p.Name)
	}
	// Output:
	// team is text from the path team
	// tags is text from the query tags
	// page is integer from the query p
	// tenant is text from the header X-Tenant
}
