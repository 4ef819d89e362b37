package rates

import (
	"context"
	"errors"
	"testing"

	"github.com/sabir-go/sabir"
)

// rate starts a node whose bank fails so often, and asks it.
func rate(t *testing.T, failures int) (r Rate, asked int) {
	t.Helper()
	node := sabir.NewNode(sabir.Serve(New(func(context.Context, string) (float64, error) {
		if asked++; asked <= failures {
			return 0, errors.New("no answer")
		}
		return 1.25, nil
	})))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	for range 2 { // the second call is answered from the cache, where there is an answer
		var err error
		if r, err = Get.Call(t.Context(), node, GetRate{Currency: "USD"}); err != nil {
			t.Fatal(err)
		}
	}
	return r, asked
}

func TestABankThatFailsTwiceIsAskedThreeTimesAndThenNoMore(t *testing.T) {
	if r, asked := rate(t, 2); r != (Rate{Value: 1.25}) || asked != 3 {
		t.Errorf("%+v after asking %d times", r, asked)
	}
}

func TestABankThatIsDownIsReplacedByAStaleRate(t *testing.T) {
	if r, _ := rate(t, 1000); !r.Stale {
		t.Errorf("%+v", r)
	}
}
