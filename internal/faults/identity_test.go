//go:build unix

package faults_test

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAProcessThatCannotJoinEndsWithAMessageThatSaysWhy(t *testing.T) {
	t.Parallel()
	const key = "one key that is long enough"
	join := freeAddress(t)
	first := start(t, setup{ID: "first", Join: join, Key: key})
	stranger, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	go func() {
		for {
			conn, err := stranger.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	taken := "tcp://" + stranger.Addr().String()
	for _, test := range []struct {
		name  string
		setup setup
		want  []string
	}{
		{"a node of the same id", setup{ID: "first", Join: join, Key: key}, []string{"first", "id"}},
		{"a node of the same id elsewhere", setup{ID: "first", Seeds: []string{first.addr}, Key: key}, []string{"first", "id"}},
		{"a node of another cluster at the same address", setup{ID: "second", Join: join, Cluster: "other", Key: key}, []string{"cluster", "other", "faults", "cannot listen at " + join}},
		{"a node whose address another program has", setup{ID: "second", Join: taken, Seeds: []string{taken}}, []string{"cannot listen at " + taken, "another process"}},
		{"a node with another key", setup{ID: "second", Join: join, Key: "another key, as long as that"}, []string{"key"}},
		{"a node without the key", setup{ID: "second", Join: join}, []string{"key"}},
		{"a client-only node where nobody listens", setup{ID: "second", Join: freeAddress(t), ClientOnly: true}, []string{"no node answers", "refused"}},
		{"a node for others without a key", setup{ID: "second", Join: "tcp://0.0.0.0:0"}, []string{"0.0.0.0", "cluster key", "this machine only"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			second := launch(t, test.setup)
			if code := second.exit().ExitCode(); code != 1 {
				t.Errorf("it ended with %d, want 1", code)
			}
			message := second.log.String()
			t.Log(message)
			for _, want := range append(test.want, "error: ") {
				if !strings.Contains(message, want) {
					t.Errorf("%q is not in the message:\n%s", want, message)
				}
			}
			if strings.Contains(message, test.setup.Key) && test.setup.Key != "" {
				t.Error("the key is in the message")
			}
		})
	}
	if first.awaitNodes(); t.Failed() {
		t.Log(first.log)
	}
}

func TestNodesThatAreStartedTogetherWithTheSameSeedsFindEachOther(t *testing.T) {
	t.Parallel()
	// One list of seeds for all, as in the settings of a deployment. Each node is in it, once by a name and once by address.
	addresses := []string{freeAddress(t), freeAddress(t), freeAddress(t)}
	var seeds []string
	for _, address := range addresses {
		seeds = append(seeds, strings.Replace(address, "127.0.0.1", "localhost", 1), address)
	}
	ids := []string{"one", "two", "three"}
	nodes := make([]*process, len(ids))
	for i, id := range ids {
		nodes[i] = launch(t, setup{ID: id, Join: addresses[i], Seeds: seeds})
	}
	for _, node := range nodes {
		node.awaitStart()
	}
	for i, node := range nodes {
		node.awaitNodes(slices.Delete(slices.Clone(ids), i, i+1)...)
	}
}

func TestAClientOnlyNodeFindsTheClusterByAnyOfItsAddresses(t *testing.T) {
	t.Parallel()
	server := start(t, setup{ID: "server", Works: true})
	observer := start(t, setup{ID: "observer", ClientOnly: true, Join: freeAddress(t), Seeds: []string{freeAddress(t), server.addr}})
	observer.awaitOffers("server")
	if r := ask[report](observer, "load", workload{Callers: 10, Calls: 100, Timeout: 5 * time.Second}); r.failures() > 0 {
		t.Errorf("calls of the client-only node: %v", r)
	}
}
