package typescript

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/schema"
)

func TestTheRouterHasAProcedureForEachActionWithTheTypesOfJSON(t *testing.T) {
	id := &schema.Schema{Type: schema.Types{"integer"}, Format: "int64"}
	user := &schema.Schema{Type: schema.Types{"object"}, Required: []string{"id", "born"}, Properties: schema.Properties{{Name: "id", Schema: id},
		{Name: "born", Schema: &schema.Schema{Type: schema.Types{"string"}, Format: "date-time"}}, {Name: "face", Schema: &schema.Schema{Type: schema.Types{"string"}, ContentEncoding: "base64"}}}}
	ref := &schema.Schema{Ref: "#/$defs/User"}
	var router bytes.Buffer
	err := WriteRouter(&router, api.API{Title: "Shop", Types: map[string]*schema.Schema{"User": user}, Actions: []api.Action{
		{Name: "users.create", In: ref, Out: ref}, {Name: "users.get", In: id, Out: ref, CacheFor: 1}, {Name: "users.sum", In: id, Out: id, Stream: true, Shape: "client"},
		{Name: "users.tail", Out: ref, Stream: true}, {Name: "users.touch"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"export interface User {\n  id: number;\n  born: string;\n  face?: string;\n}",
		"create: TRPCMutationProcedure<{ meta: object; input: UsersCreateInput; output: UsersCreateOutput }>;", "get: TRPCQueryProcedure<{ meta: object; input: UsersGetInput; output: UsersGetOutput }>;",
		"// users.sum is left out", "tail: TRPCSubscriptionProcedure<{ meta: object; input: void; output: AsyncGenerator<UsersTailOutput, void, unknown> }>;",
		"touch: TRPCMutationProcedure<{ meta: object; input: void; output: void }>;"} {
		if !strings.Contains(router.String(), want) {
			t.Errorf("%q is not in\n%s", want, router.String())
		}
	}
	if err := WriteRouter(&router, api.API{Actions: []api.Action{{Name: "a.b", In: ref}}}); err == nil {
		t.Error("a type that there is not is written")
	}
}
