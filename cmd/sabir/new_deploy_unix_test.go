//go:build unix

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sabir-go/sabir/internal/brokers"
)

// manifest has the fields of a Kubernetes manifest that the test looks at.
type manifest struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				TerminationGracePeriodSeconds int `yaml:"terminationGracePeriodSeconds"`
				Containers                    []struct {
					Env []struct {
						Name, Value string
						ValueFrom   struct {
							FieldRef struct {
								FieldPath string `yaml:"fieldPath"`
							} `yaml:"fieldRef"`
						} `yaml:"valueFrom"`
					}
					Resources struct{ Limits struct{ Memory string } }
				}
			}
		}
	}
}

// The environment is the manifest's; what differs on one machine is given by flags: ports, and the names that Kubernetes would resolve.
func TestWhatNewDeployWroteRunsAsThreeProcessesWithTheEnvironmentOfTheManifests(t *testing.T) {
	brokers.Slow(t) // it builds a program
	dir := filepath.Join(t.TempDir(), "greeter")
	source := checkout(t)
	if got := sabirRun(t, "new", "greeter", "--deploy", "--dir", dir, "--sabir", source); got.code != 0 {
		t.Fatalf("%s%s", got.out, got.errOut)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "greeter", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	env := environmentOf(t, dir)
	first, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	var admins []string
	for i := range 3 {
		links := first
		if i > 0 {
			links = "127.0.0.1:0"
		}
		admin, err := brokers.FreeAddress("tcp")
		if err != nil {
			t.Fatal(err)
		}
		admins = append(admins, admin)
		var log bytes.Buffer
		node := exec.Command(filepath.Join(dir, "greeter"), "--join", "tcp://"+links, "--seeds", "tcp://"+first, "--advertise", "127.0.0.1",
			"--http.address", "127.0.0.1:0", "--admin.address", admin)
		node.Env, node.Stderr = append(env, fmt.Sprintf("SABIR_ID=greeter-%d", i)), &log
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = node.Process.Signal(syscall.SIGTERM) // as Kubernetes does
			if err := node.Wait(); err != nil {
				t.Errorf("a node ended with %v\n%s", err, log.String())
			}
		})
	}
	for _, admin := range admins {
		waitForReady(t, "http://"+admin+"/ready")
	}
	t.Setenv("SABIR_KEY", clusterKey)
	deadline := time.Now().Add(time.Minute)
	for {
		got := sabirRun(t, "nodes", "--join", "tcp://"+first)
		if got.code == 0 && strings.Contains(got.out, "greeter-0") && strings.Contains(got.out, "greeter-1") && strings.Contains(got.out, "greeter-2") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the three have not found each other:\n%s%s", got.out, got.errOut)
		}
	}
	if got := sabirRun(t, "call", "greeter.add", "title=first", "--join", "tcp://"+first); got.code != 0 {
		t.Errorf("%s%s", got.out, got.errOut)
	}
}

func TestTheCollectorOfAPodKnowsItsLimitOfMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "greeter")
	if got := sabirRun(t, "new", "greeter", "--deploy", "--dir", dir, "--sabir", checkout(t)); got.code != 0 {
		t.Fatalf("%s%s", got.out, got.errOut)
	}
	text, err := os.ReadFile(filepath.Join(dir, "deploy", "kubernetes", "deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := yaml.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	container := m.Spec.Template.Spec.Containers[0]
	var most, collected int
	for _, one := range container.Env {
		if one.Name == "GOMEMLIMIT" {
			fmt.Sscanf(one.Value, "%dMiB", &collected)
		}
	}
	fmt.Sscanf(container.Resources.Limits.Memory, "%dMi", &most)
	if collected < most*8/10 || collected > most*9/10 {
		t.Errorf("GOMEMLIMIT is %d MiB, and the container may use %d", collected, most)
	}
}

// environmentOf is the environment that the manifest gives a container, with keys in files of this machine.
func environmentOf(t *testing.T, dir string) (env []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "deploy", "kubernetes", "deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := yaml.Unmarshal(text, &m); err != nil || m.Kind != "Deployment" || m.Spec.Template.Spec.TerminationGracePeriodSeconds != 30 {
		t.Fatalf("%v %+v", err, m)
	}
	keys := t.TempDir()
	for name, key := range map[string]string{"key": clusterKey, "http_key": clusterKey} {
		if err := os.WriteFile(filepath.Join(keys, name), []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range m.Spec.Template.Spec.Containers[0].Env {
		if one.ValueFrom.FieldRef.FieldPath == "" {
			env = append(env, one.Name+"="+strings.Replace(one.Value, "/run/keys", keys, 1))
		}
	}
	if len(env) < 8 {
		t.Fatalf("the manifest has %q", env)
	}
	return env
}

func waitForReady(t *testing.T, url string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	deadline := time.Now().Add(time.Minute)
	for {
		answer, err := client.Get(url)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v %v", url, answer, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestEachFileForDeploymentIsReadable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "greeter")
	source := checkout(t)
	if got := sabirRun(t, "new", "greeter", "--deploy", "--dir", dir, "--sabir", source); got.code != 0 {
		t.Fatalf("%s%s", got.out, got.errOut)
	}
	var kinds []string
	files, _ := filepath.Glob(filepath.Join(dir, "deploy", "kubernetes", "*.yaml"))
	for _, path := range append(files, filepath.Join(dir, "compose.yaml")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "\n---\n") {
			var one map[string]any
			if err := yaml.Unmarshal([]byte(part), &one); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if kind, ok := one["kind"].(string); ok {
				kinds = append(kinds, kind)
			}
		}
	}
	if got := strings.Join(kinds, " "); got != "HorizontalPodAutoscaler PodDisruptionBudget Deployment Kustomization NetworkPolicy Service Service" {
		t.Errorf("the manifests are %s", got)
	}
	for _, name := range []string{"Dockerfile", ".dockerignore", "deploy/systemd/greeter.service"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(text) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
