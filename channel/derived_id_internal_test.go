package channel

import (
	"testing"

	"github.com/google/uuid"
)

func TestDerivedIDsAreUUIDsOfTheirParts(t *testing.T) {
	want := uuid.NewSHA1(uuid.NameSpaceURL, []byte(`["m-1" "orders" "mail"]`)).String()
	if got := derivedID("m-1", "orders", "mail"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
