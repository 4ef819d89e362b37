package kubernetes_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor/grain/store"
	_ "github.com/sabir-go/sabir/actor/grain/store/kubernetes"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/grainstore"
	"github.com/sabir-go/sabir/internal/storetest"
	"github.com/sabir-go/sabir/lease"
)

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Setup{Address: newStandIn(t).address(), Line: true, Largest: 128 << 10})
}

func open(t *testing.T, address string) store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), address, store.Config{Name: "node-1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func save(t *testing.T, s store.Store, key, state string, revision uint64) uint64 {
	t.Helper()
	next, err := s.Save(t.Context(), "lease", key, []byte(state), revision)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func TestALeaseOfKubernetesShowsWhoseItIs(t *testing.T) {
	server := newStandIn(t)
	s := open(t, server.address()+"?prefix=billing")
	revision := save(t, s, "reports", "held", 0)
	if len(server.objects) != 1 {
		t.Fatalf("there are %d objects", len(server.objects))
	}
	for name, o := range server.objects {
		annotations := meta(o)["annotations"].(map[string]any)
		if !strings.HasPrefix(name, "billing-") || annotations["sabir.dev/key"] != `"reports"` || annotations["sabir.dev/state"] != "held" || o["spec"].(map[string]any)["holderIdentity"] != "node-1" {
			t.Errorf("%s: %v", name, o)
		}
	}
	if err := s.Delete(t.Context(), "lease", "reports", revision); err != nil {
		t.Fatal(err)
	}
	for _, o := range server.objects {
		if o["spec"].(map[string]any)["holderIdentity"] != nil || meta(o)["labels"].(map[string]any)["sabir.dev/gone"] != "billing" {
			t.Errorf("after the deletion: %v", o)
		}
	}
}

func TestWhatWasDeletedADayAgoIsRemovedAtAnOpening(t *testing.T) {
	server := newStandIn(t)
	s := open(t, server.address())
	for _, key := range []string{"old", "new"} {
		if err := s.Delete(t.Context(), "lease", key, save(t, s, key, "x", 0)); err != nil {
			t.Fatal(err)
		}
	}
	save(t, s, "kept", "x", 0)
	server.mu.Lock()
	for _, o := range server.objects {
		if meta(o)["annotations"].(map[string]any)["sabir.dev/key"] != `"new"` {
			o["spec"].(map[string]any)["renewTime"] = time.Now().Add(-25 * time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z")
		}
	}
	server.mu.Unlock()
	if err := open(t, server.address()).Close(); err != nil { // waits for it, or ends it
		t.Fatal(err)
	}
	again := open(t, server.address())
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		server.mu.Lock()
		left := len(server.objects)
		server.mu.Unlock()
		if left == 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d objects are left", left)
		}
	}
	if entry, err := again.Load(t.Context(), "lease", "kept"); err != nil || string(entry.State) != "x" {
		t.Errorf("what was not deleted: %q, %v", entry.State, err)
	}
}

func TestTheTokenIsReadForEachRequest(t *testing.T) {
	server := newStandIn(t)
	file := filepath.Join(t.TempDir(), "token")
	for _, token := range []string{"first", "second"} {
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, server.address()+"?token="+file)
		save(t, s, token, "x", 0)
		if got := server.seen.Get("Authorization"); got != "Bearer "+token {
			t.Errorf("it showed %q", got)
		}
	}
}

func TestWhatTheAPIServerRefusesIsAnErrorThatSaysWhatToDo(t *testing.T) {
	server := newStandIn(t)
	s := open(t, server.address())
	for _, test := range []struct {
		code    int
		message string
		want    error // nil for none of the store's
		text    string
	}{
		{http.StatusForbidden, `leases.coordination.k8s.io is forbidden: User "system:serviceaccount:shop:default" cannot create resource "leases"`, nil, "verbs get, create and patch"},
		{http.StatusTooManyRequests, "too many requests, please try again later", store.ErrStoreUnreachable, "too many requests"},
		{http.StatusRequestEntityTooLarge, "etcdserver: request is too large", grainstore.ErrStateTooLarge, "too large"},
		{http.StatusInternalServerError, "etcdserver: mvcc: database space exceeded", store.ErrStoreFull, "space exceeded"},
		{http.StatusNotFound, `namespaces "shop" not found`, nil, `"shop" not found`},
	} {
		end := server.refuseWith(func(r *http.Request) (int, string) {
			if r.Method == http.MethodGet {
				return 0, ""
			}
			return test.code, test.message
		})
		_, err := s.Save(t.Context(), "lease", "refused", []byte("x"), 0)
		end()
		if err == nil || !strings.Contains(err.Error(), test.text) || test.want != nil && !errors.Is(err, test.want) || errors.Is(err, store.ErrOutcomeUnknown) {
			t.Errorf("%d: got %v", test.code, err)
		}
	}
}

func TestAStateThatIsTooLargeForAnObjectIsRefused(t *testing.T) {
	s := open(t, newStandIn(t).address())
	_, err := s.Save(t.Context(), "lease", "k", bytes.Repeat([]byte{0xff}, 128<<10+1), 0)
	if !errors.Is(err, grainstore.ErrStateTooLarge) {
		t.Fatalf("got %v", err)
	}
	save(t, s, "k", strings.Repeat("\xff", 128<<10), 0)
}

func TestAddressesOfKubernetes(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for address, want := range map[string]string{
		"kubernetes://":                               "does not run in one",
		"kubernetes://127.0.0.1:1/Shop":               `namespace "Shop"`,
		"kubernetes://127.0.0.1:1/a/b":                `namespace "a/b"`,
		"kubernetes://127.0.0.1:1/?prefix=My":         `prefix "My"`,
		"kubernetes://127.0.0.1:1/?replicas=3":        `the part "replicas"`,
		"kubernetes://me:secret@127.0.0.1:1/":         "a user",
		"kubernetes://127.0.0.1:1/?ca=/none/such.pem": "authority",
		"kubernetes://127.0.0.1:1/":                   "cannot be reached",
	} {
		s, err := store.Open(t.Context(), address)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want %q in it", address, err, want)
		}
	}
}

func TestOneOfTwoNodesHoldsALeaseOfKubernetes(t *testing.T) {
	server := newStandIn(t)
	first, second := lease.New(open(t, server.address()), lease.Config{Holder: "node-1"}), lease.New(open(t, server.address()), lease.Config{Holder: "node-2"})
	held, err := first.Acquire(t.Context(), "billing", "")
	if err != nil {
		t.Fatal(err)
	}
	next := make(chan *lease.Lease)
	go func() {
		l, err := second.Acquire(t.Context(), "billing", "")
		if err != nil {
			t.Error(err)
		}
		next <- l
	}()
	if holder, is, err := second.Holder(t.Context(), "billing"); err != nil || !is || holder.Name != "node-1" {
		t.Errorf("the holder is %+v, %v, %v", holder, is, err)
	}
	if err := held.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := <-next
	defer l.Release(t.Context())
	if l.Token() <= held.Token() {
		t.Errorf("the token %d came after %d", l.Token(), held.Token())
	}
}

func TestAConnectionThatCarriesNothingAnyMoreIsGivenUp(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	server := newStandIn(t)
	secure := httptest.NewUnstartedServer(server)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	defer secure.Close()
	between := brokers.NewForwarder(t, secure.Listener.Addr().String())
	s, err := store.Open(t.Context(), "kubernetes://"+between.Addr()+"/shop", store.Config{TLS: &tls.Config{InsecureSkipVerify: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	save(t, s, "reports", "held", 0)
	between.Silence()
	begun := time.Now()
	look := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Load(ctx, "lease", "reports")
		return err
	}
	for err := look(); err != nil; err = look() {
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("the API server is there, and has not been asked on a new connection for %v: %v", time.Since(begun), err)
		}
	}
	t.Logf("answered again after %v", time.Since(begun))
}
