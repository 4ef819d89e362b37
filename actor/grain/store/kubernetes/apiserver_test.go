package kubernetes_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	_ "github.com/sabir-go/sabir/actor/grain/store/kubernetes"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/storetest"
)

// A kube-apiserver comes with Kubernetes; its source builds as a Go program (k8s.io/kubernetes/cmd/kube-apiserver).
func TestStoreOfAKubeAPIServer(t *testing.T) {
	brokers.Slow(t)
	program := brokers.Program(t, "kube-apiserver", "none; it comes with Kubernetes")
	etcd := brokers.ForTest(t, brokers.Etcd)
	dir := t.TempDir()
	port := freePort(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	accounts := write("accounts.key", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	tokens := write("tokens.csv", []byte("the-masters-token,master,1,system:masters\nthe-token,system:serviceaccount:default:shop,2,\n"))
	token := write("token", []byte("the-token\n"))
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	server := exec.Command(program, "--etcd-servers", "http://"+etcd.Addr(), "--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(port), "--cert-dir", dir,
		"--service-account-issuer", "https://test", "--service-account-key-file", accounts, "--service-account-signing-key-file", accounts,
		"--service-cluster-ip-range", "10.0.0.0/24", "--token-auth-file", tokens, "--authorization-mode", "RBAC", "--profiling=false")
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the end of its log:\n%s", text[max(0, len(text)-4000):])
		}
	}()
	master := operator{t, fmt.Sprintf("https://127.0.0.1:%d", port), "the-masters-token"}
	master.awaitReady()
	master.grant()
	address := fmt.Sprintf("kubernetes://127.0.0.1:%d/default?token=%s&ca=%s", port, token, filepath.Join(dir, "apiserver.crt"))
	storetest.Run(t, storetest.Setup{Address: address, Largest: 128 << 10})
	gone := master.gone()
	if len(gone) == 0 {
		t.Fatal("the suite has deleted nothing")
	}
	master.age(gone[0])
	open(t, address) // removes it, in the background
	for deadline := time.Now().Add(time.Minute); len(master.gone()) != len(gone)-1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d objects of %d are left", len(master.gone()), len(gone))
		}
	}
}

// operator may do anything at the API server.
type operator struct {
	t          *testing.T
	url, token string
}

func (o operator) do(method, path string, body []byte) (status int, text string, err error) {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	r, err := http.NewRequestWithContext(o.t.Context(), method, o.url+path, bytes.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.token)
	r.Header.Set("Content-Type", "application/yaml")
	answer, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(all), err
}

func (o operator) awaitReady() {
	o.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if status, _, err := o.do(http.MethodGet, "/readyz", nil); err == nil && status == http.StatusOK {
			return
		}
	}
	o.t.Fatal("kube-apiserver is not ready")
}

// grant gives the service account shop the rights of docs/leases.md.
func (o operator) grant() {
	o.t.Helper()
	rights, err := os.ReadFile("rights.yaml")
	if err != nil {
		o.t.Fatal(err)
	}
	role, binding, ok := bytes.Cut(rights, []byte("---\n"))
	if !ok {
		o.t.Fatal("there is no binding in rights.yaml")
	}
	for kind, text := range map[string][]byte{"roles": role, "rolebindings": binding} {
		status, answer, err := o.do(http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"+kind, text)
		if err != nil || status != http.StatusCreated {
			o.t.Fatalf("%s: %d %s, %v", kind, status, answer, err)
		}
	}
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

// gone lists the objects of states that were deleted.
func (o operator) gone() (names []string) {
	o.t.Helper()
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	_, text, err := o.do(http.MethodGet, leases+"?labelSelector=sabir.dev%2Fgone%3Dsabir", nil)
	if err == nil {
		err = json.Unmarshal([]byte(text), &list)
	}
	if err != nil {
		o.t.Fatal(err)
	}
	for _, item := range list.Items {
		names = append(names, item.Metadata.Name)
	}
	return names
}

// age makes an object more than a day old.
func (o operator) age(name string) {
	o.t.Helper()
	_, text, err := o.do(http.MethodGet, leases+"/"+name, nil)
	if err != nil {
		o.t.Fatal(err)
	}
	old := regexp.MustCompile(`"renewTime":"[^"]*"`).ReplaceAllString(text, `"renewTime":"2020-01-01T00:00:00.000000Z"`)
	if status, answer, err := o.do(http.MethodPut, leases+"/"+name, []byte(old)); err != nil || status != http.StatusOK {
		o.t.Fatalf("%d %s, %v", status, answer, err)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
