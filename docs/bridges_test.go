package docs

import (
	"context"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/cmd/sabir/testdata/depot"
	"github.com/sabir-go/sabir/internal/brokers"
)

// The package is one that sabir import dubbo has written; a test of cmd/sabir has Java on the other side.
func TestAPackageOfAnImportServesAndCallsAsTheGuideSays(t *testing.T) {
	free, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	address := "tri://" + free
	take := func(_ context.Context, in depot.DepotServiceTakeInput) (sabir.Empty, error) {
		if in.Amount > 3 {
			return sabir.Empty{}, depot.ErrNoneLeft
		}
		return sabir.Empty{}, nil
	}
	service := sabir.NewService("depot")
	// doc: dubbo-serve
	depot.DepotServiceTake.Handle(service, take)
	provider := sabir.NewNode(sabir.Serve(service), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{address: {depot.DepotService()}}})) // tri://:50051
	// end
	// doc: dubbo-call
	consumer := sabir.NewNode(dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{address: {depot.DepotService()}}})) // tri://10.0.0.9:50051
	takeOne := func(ctx context.Context) error {
		_, err := depot.DepotServiceTake.Call(ctx, consumer, depot.DepotServiceTakeInput{Name: "tea", Amount: 1})
		return err
	}
	// end
	for _, node := range []*sabir.Node{provider, consumer} {
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer node.Stop(context.Background())
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := takeOne(ctx); err != nil {
		t.Error(err)
	}
}
