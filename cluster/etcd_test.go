package cluster_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/directorytest"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

func TestEtcdIsADirectoryOfNodes(t *testing.T) {
	directorytest.Run(t, brokers.Etcd, 2*time.Second, func(url string) cluster.Directory {
		return &cluster.Etcd{URLs: []string{"http://127.0.0.1:1", url}, TTL: 2 * time.Second} // the first never answers
	})
}

func TestSettingsOfEtcdThatCannotWorkAreInTheLogAndSayWhatToDo(t *testing.T) {
	for want, d := range map[string]*cluster.Etcd{
		"URLs is empty":                {},
		"is no URL such as":            {URLs: []string{"10.0.0.9:2379"}},
		"want 2 s or more":             {URLs: []string{"http://10.0.0.9:2379"}, TTL: time.Second},
		"has a user in it: set":        {URLs: []string{"http://root:hunter2@10.0.0.9:2379"}},
		`"(hidden)" is no URL such as`: {URLs: []string{"root:hunter2@10.0.0.9:2379"}},
	} {
		if _, logged := directorytest.Look(t, d); !strings.Contains(logged, want) || strings.Contains(logged, "hunter2") {
			t.Errorf("the log says %q, want %q", logged, want)
		}
	}
}

func TestEtcdAsksForAPassword(t *testing.T) {
	server := brokers.ForTest(t, brokers.Etcd)
	ask := func(path string, in any) {
		t.Helper()
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.Post(server.URL()+path, "application/json", bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != 200 {
			t.Fatalf("%s: %s", path, answer.Status)
		}
	}
	ask("/v3/auth/user/add", map[string]string{"name": "root", "password": "hunter2"})
	ask("/v3/auth/user/add", map[string]string{"name": "shop", "password": "s3cret"})
	ask("/v3/auth/role/add", map[string]string{"name": "nodes"})
	ask("/v3/auth/role/grant", map[string]any{"name": "nodes", "perm": map[string]any{"permType": "READWRITE", "key": []byte("/sabir/"), "range_end": []byte("/sabir0")}})
	ask("/v3/auth/user/grant", map[string]string{"user": "root", "role": "root"})
	ask("/v3/auth/user/grant", map[string]string{"user": "shop", "role": "nodes"})
	ask("/v3/auth/enable", struct{}{})
	http.DefaultClient.CloseIdleConnections()

	with := func(user, password string) *cluster.Etcd {
		return &cluster.Etcd{URLs: []string{server.URL()}, User: user, Password: secret.New(password)}
	}
	if addresses, logged := directorytest.Look(t, with("shop", "s3cret")); len(addresses) != 1 {
		t.Errorf("with the password: %v; the log says %s", addresses, logged)
	}
	if _, logged := directorytest.Look(t, with("shop", "wrong")); !strings.Contains(logged, "invalid user ID or password") {
		t.Errorf("with another: %s", logged)
	}
	if _, logged := directorytest.Look(t, with("", "")); !strings.Contains(logged, "user name is empty") {
		t.Errorf("with none: %s", logged)
	}
}

func TestANodeWithAUserIsEnteredWhereEtcdDoesNotAskForOneYet(t *testing.T) {
	server := brokers.ForTest(t, brokers.Etcd)
	d := &cluster.Etcd{URLs: []string{server.URL()}, User: "shop", Password: secret.New("s3cret")}
	if addresses, logged := directorytest.Look(t, d); len(addresses) != 1 {
		t.Errorf("found %v; the log says %s", addresses, logged)
	}
}

func TestEtcdAsksForAClientCertificate(t *testing.T) {
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1")
	server := brokers.ForTest(t, brokers.Etcd, brokers.Config{Cert: files.Cert, Key: files.Key, CA: files.CA})
	own := files.Client(t)
	addresses, logged := directorytest.Look(t, &cluster.Etcd{URLs: []string{server.URL()}, TLS: &tls.Config{RootCAs: own.RootCAs}})
	if addresses != nil || logged == "" { // whose text depends on what is noticed first, the refusal or the end of the connection
		t.Errorf("without a certificate: %v, %q", addresses, logged)
	}
	if addresses, logged := directorytest.Look(t, &cluster.Etcd{URLs: []string{server.URL()}, TLS: own}); len(addresses) != 1 {
		t.Errorf("%v; the log says %s", addresses, logged)
	}
}
