package cluster_test

import (
	"testing"

	"github.com/sabir-go/sabir/cluster"
)

func TestMembersAndChangesHaveNames(t *testing.T) {
	for want, got := range map[string]string{
		"a": cluster.Member{ID: "a", Addr: "mem://x"}.String(), "mem://x": cluster.Member{Addr: "mem://x"}.String(),
		"joined": cluster.Joined.String(), "updated": cluster.Updated.String(), "left": cluster.Left.String(), "failed": cluster.Failed.String(), "change 9": cluster.ChangeKind(9).String(),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
