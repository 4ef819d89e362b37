package channel

import (
	"testing"

	"github.com/google/uuid"

	"github.com/sabir-go/sabir/internal/engine"
)

func TestDerivedIDsAreUUIDsOfTheirParts(t *testing.T) {
	want := uuid.NewSHA1(uuid.NameSpaceURL, []byte(`["m-1" "orders" "mail"]`)).String()
	if got := derivedID("m-1", "orders", "mail"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A broker that keeps one of several messages with one ID would drop the others.
func TestDeadLettersOfMessagesWithoutAnIDAreToldApart(t *testing.T) {
	at := func(sequence uint64) string { return deadID(&engine.Delivery{Sequence: sequence}, "orders", "mail") }
	if at(1) == at(2) || at(1) != at(1) {
		t.Error("their places do not tell them apart")
	}
	if at(0) == at(0) {
		t.Error("without places all have one ID")
	}
}
