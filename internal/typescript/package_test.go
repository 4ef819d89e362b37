package typescript

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
)

func TestThePartThatPackagesShareIsCompiledOfItsSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shared.ts"), []byte(runtime+"\n"+rules), 0o644); err != nil {
		t.Fatal(err)
	}
	tsc(t, dir, "--strict", "--declaration", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom", "shared.ts")
	for _, name := range []string{"shared.js", "shared.d.ts"} {
		golden := filepath.Join("compiled", name)
		if *update {
			copyFile(t, filepath.Join(dir, name), golden)
		}
		if string(read(t, filepath.Join(dir, name))) != string(read(t, golden)) {
			t.Errorf("%s is not made of runtime.ts and rules.ts as they are: go test -run %s -update", golden, t.Name())
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// npm runs npm in a folder.
func npm(t *testing.T, dir string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), brokers.Program(t, "npm", "npm"), args...)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("npm %q: %v\n%s", args, err, out)
	}
}

// program is one that uses the package, with what must not compile.
const program = `import { createClient, usersGet, validateUsersCreate, type NoSuchUserError } from "@acme/shop";

const shop = { baseUrl: process.argv[2]! };
const got = await usersGet(shop, { id: 404n });
if (!got.ok && got.error.name === "NoSuchUser") {
  const error: NoSuchUserError = got.error;
  console.log(error.data.id);
}
const user = await createClient(shop).users.get({ id: 7n }).orThrow();
const born: Date = user.born;
console.log(user.id, born.getUTCFullYear(), validateUsersCreate({}).length > 0);
// @ts-expect-error an id is a bigint
void usersGet(shop, { id: "7" }).then(() => undefined, () => undefined);
`

func TestAProgramInstallsThePackageCompilesAndRuns(t *testing.T) {
	compiler(t)
	home := t.TempDir()
	made := filepath.Join(home, "made")
	files, err := Package(shop(t), "@acme/shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.MkdirAll(made, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(made, f.Name), f.Text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	npm(t, made, "pack", "--pack-destination", home)
	dir := filepath.Join(home, "program")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"package.json": `{"type":"module"}`, "program.ts": "declare const process: { argv: string[] };\n" + program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	npm(t, dir, "install", "--offline", "--no-audit", "--no-fund", filepath.Join(home, "acme-shop-1.2.0.tgz"))
	tsc(t, dir, "--strict", "--noEmitOnError", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext", "--lib", "es2022,dom", "program.ts")
	server, _ := startShop(t, nil)
	out, err := exec.CommandContext(t.Context(), brokers.Program(t, "node", "nodejs"), filepath.Join(dir, "program.js"), server.URL).CombinedOutput()
	if want := "4611686018427387905n\n7n 2026 true\n"; err != nil || string(out) != want {
		t.Errorf("it says %q, want %q: %v", out, want, err)
	}
}

func TestThePackageHasTheNameAndTheVersionThatNpmWants(t *testing.T) {
	for version, want := range map[string]string{"1.2": "1.2.0", "v3": "3.0.0", "1.2.3-rc.1": "1.2.3-rc.1", "": "0.0.0", "spring": "0.0.0"} {
		a := shop(t)
		a.Version = version
		files, err := Package(a, "@acme/shop")
		if err != nil {
			t.Fatal(err)
		}
		var got manifest
		if err := json.Unmarshal(files[0].Text, &got); err != nil || got.Version != want || got.Name != "@acme/shop" || got.SideEffects ||
			bytes.Index(files[0].Text, []byte(`"types": "./index.d.ts",`)) > bytes.Index(files[0].Text, []byte(`"default"`)) {
			t.Errorf("version %q: %+v, %v", version, got, err)
		}
	}
	for _, name := range []string{"", "Shop", "../shop", "@acme", "a b", strings.Repeat("a", 215)} {
		if _, err := Package(shop(t), name); err == nil || !strings.Contains(err.Error(), "is no name of an npm package") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// bundled has esbuild bundle and minify a program that uses some of five actions, and returns its size as it is and as gzip sends it.
func bundled(t *testing.T, use string) (minified, compressed int) {
	t.Helper()
	dir := t.TempDir()
	var text bytes.Buffer
	if err := Write(&text, parsed(t, five)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"package.json": []byte(`{"type":"module"}`), "api.ts": text.Bytes(), "use.ts": []byte(use)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bundler := filepath.Join(compiler(t), "node_modules", ".bin", "esbuild")
	command := exec.CommandContext(t.Context(), bundler, "use.ts", "--bundle", "--minify", "--format=esm", "--target=es2022")
	command.Dir = dir
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(out); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return len(out), packed.Len()
}

const five = `{"title":"Shop","version":"1.2","batch":"/batch","actions":[
	{"name":"users.get","service":"users","path":"/users/get","in":{"$ref":"#/$defs/GetUser"},"out":{"$ref":"#/$defs/User"},"errors":[{"name":"NoSuchUser","code":"NotFound","status":404}]},
	{"name":"orders.get","service":"orders","path":"/orders/get","idempotent":true,"routes":[{"method":"GET","pattern":"/orders/{id}","params":[{"name":"id","in":"path","field":"id","kind":"integer"}]}],"in":{"$ref":"#/$defs/GetOrder"},"out":{"$ref":"#/$defs/Order"}},
	{"name":"orders.place","service":"orders","path":"/orders/place","in":{"$ref":"#/$defs/Place"},"out":{"$ref":"#/$defs/Order"},"errors":[{"name":"SoldOut","code":"FailedPrecondition","status":409}]},
	{"name":"orders.watch","service":"orders","path":"/orders/watch","stream":true,"in":{"$ref":"#/$defs/GetOrder"},"out":{"$ref":"#/$defs/Order"}},
	{"name":"files.put","service":"files","path":"/files/put","stream":true,"in":{"type":"string","contentEncoding":"base64"},"out":{"type":"string"}}],
	"types":{
	"GetUser":{"type":"object","properties":{"id":{"type":"string","minLength":1}},"required":["id"]},
	"User":{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"}},"required":["id","name"]},
	"Place":{"type":"object","properties":{"item":{"type":"string"},"quantity":{"type":"integer","format":"int32"}},"required":["item","quantity"]},
	"GetOrder":{"type":"object","properties":{"id":{"type":"integer","format":"int32"}},"required":["id"]},
	"Order":{"type":"object","properties":{"id":{"type":"integer","format":"int64"},"item":{"type":"string"},"placed":{"type":"string","format":"date-time"}},"required":["id","item","placed"]}}}`

func TestABundleHasWhatIsUsedAlone(t *testing.T) {
	for _, test := range []struct {
		used, use            string
		minified, compressed int
	}{
		{"one action", `import { usersGet } from "./api.js"; usersGet({ baseUrl: "" }, { id: "1" }).then(console.log);`, 4_200, 2_200},
		{"one with times, bigints and a GET form", `import { ordersGet } from "./api.js"; ordersGet({ baseUrl: "" }, { id: 1 }).then(console.log);`, 6_600, 3_200},
		{"a stream", `import { ordersWatch } from "./api.js"; for await (const o of ordersWatch({ baseUrl: "" }, { id: 1 })) console.log(o);`, 7_200, 3_600},
		{"the client of all five", `import { createClient } from "./api.js"; createClient({ baseUrl: "" }).users.get({ id: "1" }).then(console.log);`, 16_000, 6_600},
	} {
		minified, compressed := bundled(t, test.use)
		t.Logf("%s: %d bytes minified, %d as gzip sends them", test.used, minified, compressed)
		if minified > test.minified || compressed > test.compressed {
			t.Errorf("%s: %d bytes minified and %d compressed, want at most %d and %d", test.used, minified, compressed, test.minified, test.compressed)
		}
	}
}
