package typescript

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/api"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sharedHere stands in the golden file for what is the same in all modules.
const sharedHere = "// (Here stand runtime.ts and rules.ts.)\n"

func TestTheModuleOfAnAPI(t *testing.T) {
	before, after, ok := strings.Cut(written(t, shop(t)), runtime+"\n"+rules)
	if !ok {
		t.Fatal("runtime.ts and rules.ts are not in it as they are")
	}
	got := before + sharedHere + after
	golden := filepath.Join("testdata", "shop.ts")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the module is another one than %s: see whether the change is meant, then go test -run %s -update", golden, t.Name())
	}
}

func written(t testing.TB, a api.API) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func parsed(t testing.TB, text string) (a api.API) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestADescriptionThatWasSentGivesTheSameModule(t *testing.T) {
	a := shop(t)
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if written(t, parsed(t, string(text))) != written(t, a) {
		t.Error("it is another one")
	}
}

func TestAReferenceToNothingIsAnError(t *testing.T) {
	a := parsed(t, `{"actions":[{"name":"a.b","in":{"type":"array","items":{"$ref":"#/$defs/No"}}}]}`)
	err := Write(io.Discard, a)
	if err == nil || !strings.Contains(err.Error(), `a.b: the API has no type "#/$defs/No"`) {
		t.Errorf("got %v", err)
	}
}

// odd has names and texts that mean something to TypeScript.
const odd = `{"title":"*/ odd\nalert(1)","description":"one\u2028alert(2)","prefix":"/api","actions":[
	{"name":"a","path":"/a","out":{"$ref":"#/$defs/Date"},"description":"*/ alert(3) /*"},
	{"name":"a.b","path":"/a/b","in":{"$ref":"#/$defs/Lines"},"out":{"$ref":"#/$defs/my.Error"}},
	{"name":"a.b.name","path":"/a/b/name","in":{"$ref":"#/$defs/ABInput"},"stream":true},
	{"name":"__proto__.x","path":"/x"},
	{"name":"my-own.do it.3","path":"/\"+alert(4)+\"","errors":[{"name":"It's \"bad\"","code":"X"},{"name":"Validation","code":"Y","data":{"type":"object","properties":{"a b":{"type":"integer","format":"int64"}}}}]},
	{"name":"my.own","path":"/a","routes":[{"method":"GET","pattern":"/f/{rest...}","params":[{"name":"rest","in":"path","field":"rest","kind":"text"}]}],"in":{"type":"object","properties":{"rest":{"type":"string"}},"required":["rest"]}}],
	"types":{
	"Date":{"type":"object","properties":{"__proto__":{"type":"string","format":"date-time"},"constructor":{"type":["integer","null"],"enum":[1,null]},"tree":{"$ref":"#/$defs/Date"}}},
	"my.Error":{"anyOf":[{"$ref":"#/$defs/Date"},{"type":"null"}]},
	"Lines":{"type":"array","items":{"type":["string","null"],"description":"*/"},"description":"a\nb */ c"},
	"ABInput":{"type":"object","additionalProperties":{"type":"array","items":{"type":["integer","string"],"format":"int64"}}}},
	"events":{"path":"/events","patterns":["a.*/","**"]}}`

func TestOddNamesBecomeNamesThatAreFree(t *testing.T) {
	text := written(t, parsed(t, odd))
	for _, want := range []string{
		"export interface DateType {",
		"export type MyError = DateType | null;",
		`  ["__proto__"]: __proto__Api;`,
		`  "my-own": MyOwnApi;`,
		"    a: members(withClient(c, aAction), {",
		`path: "/api/a/b"`,
		`name: "rest...", in: "path"`,
		`  readonly name: "It's \"bad\"";`,
		`"a b"?: bigint;`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in it", want)
		}
	}
	if strings.Contains(text, "*/ alert") || strings.Contains(text, "\nalert") || strings.Contains(text, "\u2028") {
		t.Error("a text ends its comment")
	}
	if t.Failed() {
		_, generated, _ := strings.Cut(text, "// The types of")
		t.Log(generated)
	}
}

func TestOddNamesCompile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "odd.ts"), []byte(written(t, parsed(t, odd))), 0o644); err != nil {
		t.Fatal(err)
	}
	tsc(t, dir, "--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom", "odd.ts")
}

// The templates of Vite have this option: a page with the module did not build, for 21 names that its API had no use for.
func TestAnAPIThatUsesLittleCompilesWithoutUnusedNames(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--noEmit", "--strict", "--noUnusedLocals", "--noUnusedParameters", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom"}
	for name, description := range map[string]string{
		"action.ts": `{"actions":[{"name":"a.b","service":"a","path":"/a/b"}]}`,
		"stream.ts": `{"actions":[{"name":"log.tail","service":"log","path":"/log/tail","stream":true,"in":{"$ref":"#/$defs/Tail"},"out":{"type":"string"}}],
			"types":{"Tail":{"type":"object","properties":{"lines":{"type":"integer"}}}}}`,
		"map.ts": `{"actions":[{"name":"a.b","service":"a","path":"/a/b","in":{"$ref":"#/$defs/In"}}],
			"types":{"In":{"type":"object","properties":{"n":{"type":"integer","x-validate":"min=1"},"by":{"type":"object","additionalProperties":{"$ref":"#/$defs/Inner"}}}},
			"Inner":{"type":"object","properties":{"m":{"type":"integer"}}}}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(written(t, parsed(t, description))), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	tsc(t, dir, args...)
}

func TestChecksAreMadeOfKeywordsWhereADescriptionHasNoTags(t *testing.T) {
	for _, test := range []struct{ member, required, want string }{
		{`{"type":"string"}`, "", "optional(isText)"},
		{`{"type":"string","minLength":1,"maxLength":5}`, "x", `all(required(""), isText, max(5))`},
		{`{"type":"string","minLength":2,"maxLength":2}`, "", `optional(all(isText, len(2)))`},
		{`{"type":"string","enum":["a","b c"]}`, "x", `orZero("", all(isText, oneOf(["a", "b c"], "a 'b c'")))`},
		{`{"type":"integer","format":"int8","minimum":1,"maximum":5,"default":1}`, "", "unlessZero(0, all(isWhole(-128n, 127n), min(1), max(5)))"},
		{`{"type":"array","minItems":1,"default":["a"]}`, "", "optional(all(isList, min(1)))"},
		{`{"type":"string","pattern":"^a+$"}`, "", `optional(all(isText, match("pattern", new RegExp("^a+$", "u"), "does not match the pattern " + "^a+$")))`},
		{`{"type":"string","pattern":"(?i)a"}`, "", `optional(isText)`},
		{`{"type":"integer","format":"int8","minimum":-128,"maximum":127}`, "", "optional(isWhole(-128n, 127n))"},
		{`{"type":"integer","format":"int64","exclusiveMinimum":5,"maximum":9223372036854775806}`, "", "optional(all(isWhole(-9223372036854775808n, 9223372036854775807n), gt(5), max(9223372036854775806n)))"},
		{`{"type":"integer","format":"uint64","minimum":0}`, "", "optional(isWhole(0n, 18446744073709551615n))"},
		{`{"type":"integer","x-protobuf-type":"string"}`, "", "optional(isWhole(-Infinity, Infinity))"},
		{`{"type":"number","not":{"const":0}}`, "x", "all(required(0), isNumber)"},
		{`{"type":"boolean","const":true}`, "x", "all(required(false), isFlag)"},
		{`{"type":["string","null"],"format":"date-time"}`, "", "optional(isTime)"},
		{`{"type":"string","contentEncoding":"base64"}`, "x", "all(present, isBytes)"},
		{`{"type":"array","uniqueItems":true,"minItems":1,"items":{"type":"string","maxLength":3}}`, "x", "all(present, isList, min(1), unique, each(all(isText, max(3))))"},
		{`{"type":"object","additionalProperties":{"type":"number"},"propertyNames":{"pattern":"^a$"},"maxProperties":2}`, "", `optional(all(isRecord, max(2), each(isNumber), eachKey(match("pattern", new RegExp("^a$", "u"), "does not match the pattern " + "^a$"))))`},
		{`{"type":"string","anyOf":[{"const":""},{"format":"email"}]}`, "", `optional(all(isText, any(eq(""), ` + formats["email"] + `)))`},
	} {
		t.Run(test.member, func(t *testing.T) {
			a := parsed(t, `{"actions":[{"name":"a.b","path":"/a/b","in":{"type":"object","properties":{"x":`+test.member+`},"required":[`+quoted(test.required)+`]}}]}`)
			text := written(t, a)
			if want := "    x: " + test.want + ",\n"; !strings.Contains(text, want) {
				_, generated, _ := strings.Cut(text, "// How inputs are checked.")
				t.Errorf("want %s in\n%s", want, generated)
			}
		})
	}
}

// What it points to was checked as if it were there: a rule in it refused what the server takes, and a type that has itself inside overflowed the stack.
func TestAPointerThatIsLeftOutIsNotChecked(t *testing.T) {
	for _, test := range []struct{ member, want string }{
		{`{"$ref":"#/$defs/Order","x-protobuf-type":"optional"}`, "optional(checkOrder)"},
		{`{"$ref":"#/$defs/Order"}`, "orZero({}, checkOrder)"},
		{`{"type":"integer","format":"int8","x-protobuf-type":"optional int32","x-validate":"omitempty,min=1"}`, "optional(all(isWhole(-128n, 127n), optional(min(1))))"},
		{`{"type":"string","x-protobuf-type":"optional string","x-validate":"startswith=a"}`, `orZero("", all(isText, startsWith("a")))`},
	} {
		text := written(t, parsed(t, `{"actions":[{"name":"a.b","path":"/a/b","in":{"$ref":"#/$defs/Order"}}],
			"types":{"Order":{"type":"object","properties":{"n":{"type":"integer","x-validate":"min=1"},"x":`+test.member+`}}}}`))
		if want := "    x: " + test.want + ",\n"; !strings.Contains(text, want) {
			_, generated, _ := strings.Cut(text, "// How inputs are checked.")
			t.Errorf("want %s in\n%s", want, generated)
		}
	}
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return quote(text)
}

func FuzzWrite(f *testing.F) {
	text, err := json.Marshal(shop(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(odd)
	f.Add(`{"actions":[{"name":"a","in":{"$ref":"#/$defs/T"}}],"types":{"T":{"$ref":"#/$defs/T"}}}`)
	f.Add(`{"actions":[{"name":"a","in":{"$ref":"#/$defs/T"}}],"types":{"T":null}}`)
	f.Add(`{"actions":[{"name":"a.b"},{"name":"a.b"},{"name":"A.B"},{"name":"a..b"},{"name":""}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var a api.API
		if json.Unmarshal([]byte(text), &a) != nil {
			return
		}
		var first, second bytes.Buffer
		errFirst, errSecond := Write(&first, a), Write(&second, a)
		if (errFirst == nil) != (errSecond == nil) || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("two modules of one API: %v, %v", errFirst, errSecond)
		}
	})
}

func TestAnAnswerWithoutContentIsUndefined(t *testing.T) {
	for statuses, want := range map[string]string{
		`[{"status":201}]`:                "(options?: CallOptions): Call<string, ",
		`[{"status":204}]`:                "(options?: CallOptions): Call<void, ",
		`[{"status":201},{"status":204}]`: " | undefined, ",
	} {
		a := parsed(t, `{"actions":[{"name":"a.get","service":"a","path":"/a/get","out":{"type":"string"},"statuses":`+statuses+`}]}`)
		text := strings.ReplaceAll(written(t, a), "AGetOutput", "string")
		if !strings.Contains(text, want) {
			t.Errorf("%s: there is no %q in %s", statuses, want, text[strings.Index(text, "export interface Api "):])
		}
	}
}
