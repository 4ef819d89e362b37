package membership_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/membership"
)

func TestMembersAndChangesHaveNames(t *testing.T) {
	for want, got := range map[string]string{
		"a": membership.Member{ID: "a", Addr: "mem://x"}.String(), "mem://x": membership.Member{Addr: "mem://x"}.String(),
		"joined": membership.Joined.String(), "updated": membership.Updated.String(), "left": membership.Left.String(), "failed": membership.Failed.String(), "change 9": membership.ChangeKind(9).String(),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
