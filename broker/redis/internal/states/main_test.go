package states_test

import (
	"testing"

	"go.uber.org/goleak"
)

// The client of a Redis Cluster closes the connections to a server that has gone five seconds later.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"))
}
