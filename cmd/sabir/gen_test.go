package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

// described is the description of an API with one action, whose input has this member besides.
func described(member string) string {
	return `{"title":"T","version":"1","actions":[{"name":"users.get","service":"users","path":"/users/get","in":{"$ref":"#/$defs/GetUser"}}],` +
		`"types":{"GetUser":{"type":"object","properties":{"id":{"type":"string"},"` + member + `":{"type":"string"}},"required":["id","` + member + `"]}}}`
}

func written(t *testing.T, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "api.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAClientIsWrittenFromARunningNode(t *testing.T) {
	startDemo(t)
	got := sabirRun(t, "gen", "ts")
	if got.code != exitOK || !strings.Contains(got.out, "export function createClient(") || !strings.Contains(got.out, "  users: UsersApi;\n") {
		t.Errorf("exit code %d, %s\n%.2000s", got.code, got.errOut, got.out)
	}
}

func TestAnOpenAPIDocumentIsWrittenFromARunningNode(t *testing.T) {
	startDemo(t)
	got := sabirRun(t, "gen", "openapi")
	var document struct {
		OpenAPI string                    `json:"openapi"`
		Paths   map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal([]byte(got.out), &document); err != nil || got.code != exitOK || !strings.HasPrefix(document.OpenAPI, "3.1") || document.Paths["/users/get"] == nil {
		t.Errorf("exit code %d, %s, %v\n%.500s", got.code, got.errOut, err, got.out)
	}
}

func TestContractsAreWrittenFromARunningNode(t *testing.T) {
	startDemo(t)
	got := sabirRun(t, "gen", "go", "--package", "shop")
	for _, want := range []string{"package shop\n", `var UsersGet = sabir.NewAction[GetUser, User]("users.get"`, "type GetUser struct {\n", "validate:"} {
		if got.code != exitOK || !strings.Contains(got.out, want) {
			t.Errorf("exit code %d, %s, no %q in\n%.2000s", got.code, got.errOut, want, got.out)
		}
	}
	if got := sabirRun(t, "gen", "go", "--package", "my-shop"); got.code == exitOK || !strings.Contains(got.errOut, `"my-shop" is no name of a Go package`) {
		t.Errorf("%+v", got)
	}
}

func TestAClientIsWrittenFromACluster(t *testing.T) {
	startCluster(t, &cli{})
	got := sabirRun(t, "gen", "ts")
	if got.code != exitOK || !strings.Contains(got.out, "  users: UsersApi;\n") {
		t.Errorf("exit code %d, %s\n%.2000s", got.code, got.errOut, got.out)
	}
}

func TestAProtoFileKeepsItsNumbersWithALock(t *testing.T) {
	dir := t.TempDir()
	lock := filepath.Join(dir, "api.lock")
	first := sabirRun(t, "gen", "proto", written(t, described("lang")), "--package", "shop.v1", "--lock", lock)
	if first.code != exitOK || !strings.Contains(first.out, "package shop.v1;") || !strings.Contains(first.out, "string lang = 2;") {
		t.Fatalf("exit code %d, %s\n%s", first.code, first.errOut, first.out)
	}
	swapped := strings.Replace(described("lang"), `"id":{"type":"string"},"lang":{"type":"string"}`, `"lang":{"type":"string"},"id":{"type":"string"}`, 1)
	again := sabirRun(t, "gen", "proto", written(t, swapped), "--package", "shop.v1", "--lock", lock)
	if again.code != exitFailed || !strings.Contains(again.errOut, "the field id of") || !strings.Contains(again.errOut, "has number 2, and had 1: give it the tag `protobuf:\"1\"`") {
		t.Errorf("exit code %d, %s\n%s", again.code, again.errOut, again.out)
	}
	diff := sabirRun(t, "gen", "diff", written(t, described("lang")), written(t, swapped), "--lock", lock)
	if diff.code != exitFailed || !strings.Contains(diff.out, "BREAKING the field id of") || !strings.Contains(diff.out, "BREAKING the field lang of") {
		t.Errorf("exit code %d, %s\n%s", diff.code, diff.errOut, diff.out)
	}
	if same := sabirRun(t, "gen", "diff", written(t, described("lang")), written(t, described("lang")), "--lock", lock); same.code != exitOK {
		t.Errorf("%+v", same)
	}
	tagged := strings.Replace(swapped, `"lang":{"type":"string"},"id":{"type":"string"}`, `"lang":{"type":"string","x-protobuf":2},"id":{"type":"string","x-protobuf":1}`, 1)
	if again := sabirRun(t, "gen", "proto", written(t, tagged), "--package", "shop.v1", "--lock", lock); again.code != exitOK || !strings.Contains(again.out, "string lang = 2;") {
		t.Errorf("exit code %d, %s\n%s", again.code, again.errOut, again.out)
	}
	if err := os.WriteFile(lock, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if broken := sabirRun(t, "gen", "proto", written(t, described("lang")), "--lock", lock); broken.code != exitUsage || !strings.Contains(broken.errOut, "the lock "+lock+" cannot be read") {
		t.Errorf("%+v", broken)
	}
}

func TestADescriptionComesFromAFileOrStdin(t *testing.T) {
	fromFile := sabirRun(t, "gen", "ts", written(t, described("lang")))
	fromStdin := sabirRunWith(t, strings.NewReader(described("lang")), "gen", "ts", "-")
	if fromFile.code != exitOK || !strings.Contains(fromFile.out, "  lang: string;\n") || fromFile != fromStdin {
		t.Errorf("from the file %d %s, from stdin %d %s", fromFile.code, fromFile.errOut, fromStdin.code, fromStdin.errOut)
	}
}

func TestAFileThatSaysTheSameIsLeftAsItIs(t *testing.T) {
	source, file := written(t, described("lang")), filepath.Join(t.TempDir(), "api.ts")
	first := sabirRun(t, "gen", "ts", source, "-o", file)
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(first, err)
	}
	again := oneJSON[genResult](t, sabirRun(t, "gen", "ts", source, "-o", file, "--json").out)
	after, err := os.Stat(file)
	if err != nil || !os.SameFile(before, after) || again.Changed || again.Actions != 1 || again.Bytes != int(after.Size()) {
		t.Errorf("%+v %v", again, err)
	}
	if !strings.HasPrefix(first.out, "wrote "+file) {
		t.Errorf("it says %q", first.out)
	}
	other := oneJSON[genResult](t, sabirRun(t, "gen", "ts", written(t, described("x")), "-o", file, "--json").out)
	if !other.Changed {
		t.Errorf("%+v", other)
	}
}

func TestABreakingChangeFails(t *testing.T) {
	before, after := written(t, described("lang")), written(t, described("tongue"))
	got := sabirRun(t, "gen", "diff", before, after)
	if got.code != exitFailed || !strings.Contains(got.out, "BREAKING") || !strings.Contains(got.out, "tongue") || !strings.Contains(got.errOut, "may break callers") {
		t.Errorf("%+v", got)
	}
	asJSON := sabirRun(t, "gen", "diff", before, after, "--json")
	if reported := oneJSON[genDiff](t, asJSON.out); asJSON.code != exitFailed || !reported.Breaking || len(reported.Changes) == 0 {
		t.Errorf("%+v", asJSON)
	}
	same := sabirRun(t, "gen", "diff", before, before)
	if same.code != exitOK || same.out != "nothing changed for callers\n" {
		t.Errorf("%+v", same)
	}
}

func TestEventsAndChannelsOfAClusterAreCompared(t *testing.T) {
	address := freePort(t)
	mails := channel.New[struct {
		To string `json:"to"`
	}]("mails")
	s := sabir.NewService("mail", sabir.Sends(mails))
	sabir.On(s, "orders.made", func(context.Context, struct {
		ID string `json:"id"`
	}) error {
		return nil
	})
	startMember(t, "a", address, s)
	file := filepath.Join(t.TempDir(), "cluster.json")
	if got := sabirRun(t, "gen", "api", "--join", address, "-o", file); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	if got := sabirRun(t, "gen", "diff", file, "--join", address); got.code != exitOK || got.out != "nothing changed for callers\n" {
		t.Errorf("%+v", got)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{{`"name": "mails"`, `"name": "letters"`}, {`"id": {`, `"number": {`}} {
		if !strings.Contains(string(text), change[0]) {
			t.Fatalf("no %s in %s", change[0], text)
		}
		text = []byte(strings.ReplaceAll(string(text), change[0], change[1]))
	}
	got := sabirRun(t, "gen", "diff", written(t, string(text)), "--join", address)
	for _, want := range []string{"BREAKING event orders.made in mail: the payload's /number is not read any more.", "BREAKING channel letters of mail is not sent any more.",
		"         channel mails of mail is new."} {
		if got.code != exitFailed || !strings.Contains(got.out, want) {
			t.Errorf("no %q in %+v", want, got)
		}
	}
}

func TestWhatCannotBeGeneratedSaysWhy(t *testing.T) {
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing wanted":       {[]string{"gen"}, exitUsage, "gen needs what to write: ts, openapi"},
		"unknown":              {[]string{"gen", "perl"}, exitUsage, `gen cannot write "perl"`},
		"no such file":         {[]string{"gen", "ts", "/no/such.json"}, exitUsage, "no such file"},
		"no JSON":              {[]string{"gen", "ts", written(t, "{")}, exitUsage, "has no description of an API"},
		"another JSON":         {[]string{"gen", "ts", written(t, "{}")}, exitUsage, `it has no "actions"`},
		"an OpenAPI document":  {[]string{"gen", "ts", written(t, `{"openapi":"3.1.0"}`)}, exitUsage, "is an OpenAPI document"},
		"one that is compared": {[]string{"gen", "diff", written(t, `{"openapi":"3.1.0","schemas":[],"actions":{},"title":7}`)}, exitUsage, "is an OpenAPI document"},
		"one of version 2":     {[]string{"gen", "diff", written(t, `{"swagger":"2.0","info":{}}`)}, exitUsage, "is an OpenAPI document"},
		"no node":              {[]string{"gen", "ts", nowhere}, exitFailed, "no node answers at " + nowhere},
		"another server":       {[]string{"gen", "ts", elsewhere.URL}, exitFailed, "404"},
		"none to compare":      {[]string{"gen", "diff"}, exitUsage, "diff needs the old and the new description"},
		"a folder that is not": {[]string{"gen", "ts", written(t, described("x")), "-o", "/no/such/folder/api.ts"}, exitFailed, "cannot be written"},
		"a folder, no file":    {[]string{"gen", "ts", written(t, described("x")), "-o", t.TempDir()}, exitFailed, "is a folder"},
		"a package on stdout":  {[]string{"gen", "ts", written(t, described("x")), "--package", "shop"}, exitUsage, "name their folder with --output"},
		"a package's name":     {[]string{"gen", "ts", written(t, described("x")), "--package", "Shop", "-o", t.TempDir()}, exitFailed, "is no name of an npm package"},
		"a type that is not":   {[]string{"gen", "ts", written(t, strings.Replace(described("x"), `"GetUser":`, `"Other":`, 1))}, exitFailed, "#/$defs/GetUser"},
	} {
		t.Run(name, func(t *testing.T) {
			got := sabirRun(t, test.args...)
			if got.code != test.code || !strings.Contains(got.errOut, test.want) || got.out != "" {
				t.Errorf("%+v, want exit code %d and %q", got, test.code, test.want)
			}
		})
	}
}

func TestTheKindsOfGenTeachTheirUse(t *testing.T) {
	for _, command := range (&cli{}).genCommand().Commands() {
		if command.Short == "" || command.Long == "" || strings.Count(command.Example, "sabir gen "+command.Name()) < 2 {
			t.Errorf("%s: short %q, long %q, example %q", command.Name(), command.Short, command.Long, command.Example)
		}
	}
}

func TestAPackageIsWrittenIntoItsFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "shop")
	got := sabirRun(t, "gen", "ts", written(t, described("lang")), "--package", "@acme/shop", "-o", folder)
	if got.code != exitOK || strings.Count(got.out, "wrote ") != 3 {
		t.Fatalf("%+v", got)
	}
	for _, name := range []string{"package.json", "index.js", "index.d.ts"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	again := sabirRun(t, "gen", "ts", written(t, described("lang")), "--package", "@acme/shop", "-o", folder)
	if again.code != exitOK || strings.Count(again.out, "unchanged: ") != 3 {
		t.Errorf("%+v", again)
	}
}

func TestHeadersGoWithTheRequestForADescription(t *testing.T) {
	asked := make(chan http.Header, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header
		w.Write([]byte(described("lang")))
	}))
	t.Cleanup(server.Close)
	got := sabirRun(t, "gen", "ts", server.URL, "--header", "Authorization: Bearer swordfish", "--header", "X-Tenant: acme", "--header", "x-tenant: other", "--key", "k-1")
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	header := <-asked
	if a, tenants := header.Get("Authorization"), header.Values("X-Tenant"); a != "Bearer swordfish" || strings.Join(tenants, " ") != "acme other" {
		t.Errorf("the node got %q and %q", a, tenants)
	}
}

func TestHeadersDoNotShowInErrors(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(refusing.Close)
	elsewhere := httptest.NewServer(http.RedirectHandler(refusing.URL, http.StatusFound))
	t.Cleanup(elsewhere.Close)
	for name, test := range map[string]struct {
		source, header string
		code           int
		want           string
	}{
		"no colon":     {refusing.URL, "Authorization Bearer swordfish", exitUsage, "--header number 1 is no header"},
		"a bad name":   {refusing.URL, "sword fish: x", exitUsage, "--header number 1 is no header"},
		"a bad value":  {refusing.URL, "Authorization: swordfish\x00", exitUsage, "the value of the header Authorization has a byte"},
		"refused":      {refusing.URL, "Authorization: swordfish", exitFailed, "403"},
		"sent on":      {elsewhere.URL, "Authorization: swordfish", exitFailed, "302"},
		"nobody there": {nowhere, "Authorization: swordfish", exitFailed, "no node answers"},
	} {
		t.Run(name, func(t *testing.T) {
			got := sabirRun(t, "gen", "ts", test.source, "--header", test.header)
			if got.code != test.code || !strings.Contains(got.errOut, test.want) || strings.Contains(got.out+got.errOut, "fish") {
				t.Errorf("%+v", got)
			}
		})
	}
	if got := sabirRun(t, "gen", "ts", "--join", "tcp://127.0.0.1:1", "--header", "A: b"); got.code != exitUsage || !strings.Contains(got.errOut, "--header is for descriptions over HTTP") {
		t.Errorf("%+v", got)
	}
}

func TestGenCountsNoActionsWhereThereAreEventsOnly(t *testing.T) {
	address := freePort(t)
	listener := sabir.NewService("mail")
	sabir.On(listener, "user.changed", func(context.Context, struct{}) error { return nil })
	startMember(t, "a", address, listener)
	file := filepath.Join(t.TempDir(), "events.json")
	if got := sabirRun(t, "gen", "asyncapi", "--join", address, "-o", file); got.code != exitOK || !strings.HasPrefix(got.out, "wrote "+file+" (") || strings.Contains(got.out, "action") {
		t.Errorf("%+v", got)
	}
}
