package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/directorytest"
	"github.com/sabir-go/sabir/secret"
)

func TestConsulIsADirectoryOfNodes(t *testing.T) {
	directorytest.Run(t, brokers.Consul, 2*time.Second, func(url string) cluster.Directory {
		return &cluster.Consul{Agent: url, TTL: 2 * time.Second}
	})
}

func TestSettingsOfConsulThatCannotWorkAreInTheLogAndSayWhatToDo(t *testing.T) {
	for want, d := range map[string]*cluster.Consul{
		"is no URL such as": {Agent: "127.0.0.1:8500"},
		"want 2 s or more":  {TTL: time.Second},
	} {
		if _, logged := directorytest.Look(t, d); !strings.Contains(logged, want) {
			t.Errorf("the log says %q, want %q", logged, want)
		}
	}
}

func TestConsulAsksForAToken(t *testing.T) {
	const token = "6b9c1c60-0e10-4f6d-a0a1-4f0d2f9f7f5e"
	server := brokers.ForTest(t, brokers.Consul, brokers.Config{Password: token})
	url := "http://" + server.Addr()
	if addresses, logged := directorytest.Look(t, &cluster.Consul{Agent: url, Token: secret.New(token)}); len(addresses) != 1 {
		t.Errorf("with the token: %v; the log says %s", addresses, logged)
	}
	if _, logged := directorytest.Look(t, &cluster.Consul{Agent: url}); !strings.Contains(logged, "Permission denied") {
		t.Errorf("with none: %s", logged)
	}
}
