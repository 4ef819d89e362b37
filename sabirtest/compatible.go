package sabirtest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/description"
)

// update reports whether files are written instead of compared.
func update() bool { return os.Getenv("SABIRTEST_UPDATE") != "" }

// Compatible compares what the node's own services offer with the description in a file, and fails the test for each difference that may
// break callers that were written for the file: an action that is gone, an input that asks for more, an output that has less. Callers of
// other nodes count, and those over HTTP. Events and channels that the services receive, and that they name with sabir.Sends, are compared alike. Stand-ins of
// [Fakes] count for nothing. The file has the form of a node's /$api, which `sabir gen diff` reads too; where there
// is none, SABIRTEST_UPDATE=1 writes it.
func Compatible(t testing.TB, node *sabir.Node, file string) {
	t.Helper()
	now, err := describe(t.Context(), node)
	if err != nil {
		t.Fatal(err)
	}
	if update() {
		text, err := json.MarshalIndent(now, "", "  ")
		if err == nil {
			err = write(file, append(text, '\n'))
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("there is no description to compare with; SABIRTEST_UPDATE=1 writes it: %v", err)
	}
	var before api.API
	if err := json.Unmarshal(text, &before); err != nil {
		t.Fatalf("%s is no description of an API: %v", file, err)
	}
	for _, change := range api.Diff(before, now) {
		if change.Breaking {
			t.Errorf("%s: %s; where that is meant, SABIRTEST_UPDATE=1 writes the file again", file, change.Text)
		}
	}
}

// describe describes what the node offers itself, to whichever callers.
func describe(ctx context.Context, node *sabir.Node) (api.API, error) {
	var services []string
	for _, s := range node.Services() {
		if s.Node == node.ID() && s.Name[0] != '$' && s.Description != standIn {
			services = append(services, s.Name)
		}
	}
	own := slices.DeleteFunc(node.Actions(), func(a *sabir.Action) bool { return a.Remote || a.NodeOnly || !slices.Contains(services, a.Service) })
	// The title is not the node's name, which is another one in each run unless the test gave it one.
	described, err := api.Of(api.API{Title: strings.Join(services, ", "), Version: api.NoVersion}, own, api.Sources{Place: func(*sabir.Action, *api.Action) bool { return true }})
	if err != nil {
		return described, err
	}
	described.AddMessages(nil, nil)
	for _, name := range services {
		of, err := sabir.Call[description.Document](ctx, node, "$node.api", description.Request{Service: name}, sabir.ToNode(node.ID()))
		if err != nil {
			return described, err
		}
		described.AddMessages(of.Messages, of.Defs)
	}
	return described, nil
}

func write(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o666)
}
