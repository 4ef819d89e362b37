package users

import (
	"context"
	"errors"
	"testing"

	"github.com/sabir-go/sabir"
)

// doc: test
func TestAKnownUserIsFound(t *testing.T) {
	ctx := context.Background()
	node := sabir.NewNode(sabir.Serve(New()))
	if err := node.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(ctx)

	user, err := Get.Call(ctx, node, GetUser{ID: "u-1"})
	if err != nil || user.Name != "Ada" {
		t.Errorf("%+v, %v", user, err)
	}
	if _, err = Get.Call(ctx, node, GetUser{ID: "u-9"}); !errors.Is(err, ErrNoSuchUser) {
		t.Errorf("%v, want %v", err, ErrNoSuchUser)
	}
}

// end
