package typescript

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/sabir-go/sabir/internal/api"
)

// What all clients share, as the TypeScript compiler makes it of runtime.ts and rules.ts: so that a package can be written where
// there is no compiler. A test compiles them again.

//go:embed compiled/shared.js
var sharedScript string

//go:embed compiled/shared.d.ts
var sharedDeclarations string

// File is a file of a package.
type File struct {
	Name string
	Text []byte
}

// Package returns the files of an npm package of a client: package.json, the module as JavaScript (ESM), and its types. The
// package's version is the API's. It fails for a name that npm refuses, and as Write does.
func Package(a api.API, name string) ([]File, error) {
	if !packageName.MatchString(name) || len(name) > 214 {
		return nil, fmt.Errorf("typescript: %q is no name of an npm package: want lower case, such as shop or @acme/shop", name)
	}
	manifest, err := json.MarshalIndent(manifestOf(a, name), "", "  ")
	if err != nil {
		return nil, err
	}
	var script, types bytes.Buffer
	if err := write(&script, a, scriptForm, sharedScript); err != nil {
		return nil, err
	}
	if err := write(&types, a, declarationForm, sharedDeclarations); err != nil {
		return nil, err
	}
	return []File{{"package.json", append(manifest, '\n')}, {"index.js", script.Bytes()}, {"index.d.ts", types.Bytes()}}, nil
}

// packageName is the form of https://docs.npmjs.com/cli/configuring-npm/package-json#name.
var packageName = regexp.MustCompile(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)

// manifest is a package.json.
type manifest struct {
	Name        string                `json:"name"`
	Version     string                `json:"version"`
	Description string                `json:"description"`
	Type        string                `json:"type"`
	SideEffects bool                  `json:"sideEffects"`
	Types       string                `json:"types"`
	Exports     map[string]entryPoint `json:"exports"`
	Files       []string              `json:"files"`
	Engines     map[string]string     `json:"engines"`
}

// entryPoint has the types first: the first condition that fits is taken (https://nodejs.org/api/packages.html#conditional-exports).
type entryPoint struct {
	Types   string `json:"types"`
	Default string `json:"default"`
}

func manifestOf(a api.API, name string) manifest {
	m := module{api: a}
	return manifest{Name: name, Version: semanticVersion(a.Version), Description: oneLine("A client for " + m.title() + "."),
		Type: "module", Types: "./index.d.ts", Files: []string{"index.js", "index.d.ts"}, Engines: map[string]string{"node": ">=20"},
		Exports: map[string]entryPoint{".": {"./index.d.ts", "./index.js"}}}
}

var versionForm = regexp.MustCompile(`^v?(0|[1-9]\d*)(\.(0|[1-9]\d*))?(\.(0|[1-9]\d*))?(-[0-9A-Za-z.-]+)?$`)

// semanticVersion is an API's version as npm wants it: "1.2" is "1.2.0", and what is no version is "0.0.0".
func semanticVersion(version string) string {
	parts := versionForm.FindStringSubmatch(version)
	if parts == nil {
		return "0.0.0"
	}
	for _, i := range []int{3, 5} {
		if parts[i] == "" {
			parts[i] = "0"
		}
	}
	return parts[1] + "." + parts[3] + "." + parts[5] + parts[6]
}
