package mesh

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
)

func TestANodeThatLeavesDialsNoOtherForGossip(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	leaving, other := start(t, ctx, "leaving"), start(t, ctx, "other")
	defer stop(t, other)
	defer stop(t, leaving)
	if err := leaving.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	_, err := gossipCarrier{leaving}.Dial(ctx, membership.Member{Addr: other.OwnAddress()})
	if !errors.Is(err, membership.ErrLeaving) {
		t.Errorf("it dialled: %v", err)
	}
}
