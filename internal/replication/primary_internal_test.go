package replication

import (
	"fmt"
	"strings"
	"testing"
)

// replicationInfo is a server's report of its replication.
func replicationInfo(id, before string, replicas ...string) string {
	text := "# Replication\r\nrole:master\r\nconnected_slaves:" + fmt.Sprint(len(replicas)) + "\r\n"
	for n, replica := range replicas {
		text += fmt.Sprintf("slave%d:ip=127.0.0.1,%s,offset=1,lag=0\r\n", n, replica)
	}
	return text + "master_replid:" + id + "\r\nmaster_replid2:" + before + "\r\n"
}

const (
	none    = "0000000000000000000000000000000000000000"
	online  = "port=6380,state=online"
	syncing = "port=6381,state=wait_bgsave"
	reader  = "port=0,state=online"
)

func TestHowManyReplicasAServerMustHave(t *testing.T) {
	type step struct {
		server string
		want   int
	}
	for name, steps := range map[string][]step{
		"one that never had a replica is not waited for":      {{replicationInfo("a", none), 0}, {replicationInfo("b", none), 0}},
		"all that are online must have a write":               {{replicationInfo("a", none, online, online), 2}},
		"one that is still filled need not":                   {{replicationInfo("a", none, online, syncing), 1}},
		"a program that reads along need not":                 {{replicationInfo("a", none, reader), 0}},
		"one of two may go":                                   {{replicationInfo("a", none, online, online), 2}, {replicationInfo("a", none, online), 1}},
		"the last one may not":                                {{replicationInfo("a", none, online), 1}, {replicationInfo("a", none), 1}, {replicationInfo("a", none), 1}},
		"one that was restarted is not trusted alone":         {{replicationInfo("a", none, online), 1}, {replicationInfo("b", none), 1}, {replicationInfo("b", none, online), 1}},
		"one that was promoted is":                            {{replicationInfo("a", none, online), 1}, {replicationInfo("b", "a"), 0}},
		"until it has had replicas itself":                    {{replicationInfo("a", none, online), 1}, {replicationInfo("b", "a"), 0}, {replicationInfo("b", "a", online), 1}, {replicationInfo("b", "a"), 1}},
		"one that was promoted by others than we knew is not": {{replicationInfo("a", none, online), 1}, {replicationInfo("c", "b"), 1}},
		"the old primary is not trusted after the promotion":  {{replicationInfo("a", none, online), 1}, {replicationInfo("b", "a"), 0}, {replicationInfo("a", none), 1}},
		"nor after it was restarted":                          {{replicationInfo("a", none, online), 1}, {replicationInfo("b", "a"), 0}, {replicationInfo("d", none), 1}},
		"of a cluster each primary has its own number":        {{replicationInfo("a", none, online, online), 2}, {replicationInfo("b", none, online), 1}, {replicationInfo("a", none, online, online), 2}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &Primary{setting: Default, histories: make(map[string]bool)}
			for n, step := range steps {
				if got, err := p.requiredReplicas(step.server); err != nil || got != step.want {
					t.Fatalf("step %d: got %d, %v, want %d", n, got, err, step.want)
				}
			}
		})
	}
}

func TestAServerThatIsNoPrimaryConfirmsNothing(t *testing.T) {
	p := &Primary{setting: Default, histories: make(map[string]bool)}
	for _, text := range []string{strings.Replace(replicationInfo("a", none, online), "role:master", "role:slave", 1), "", "ERR"} {
		if _, err := p.requiredReplicas(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
