package hessian_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/internal/brokers"
)

// The arbiter is the test of Caucho's own Java library, TestHessian2Servlet in com.caucho:hessian 4.0.66: 92 methods
// that make a value and 90 that judge one. testdata/reply has what the first gave, written by testdata/java/make.sh.

type (
	a0  struct{}
	a1  struct{}
	a2  struct{}
	a3  struct{}
	a4  struct{}
	a5  struct{}
	a6  struct{}
	a7  struct{}
	a8  struct{}
	a9  struct{}
	a10 struct{}
	a11 struct{}
	a12 struct{}
	a13 struct{}
	a14 struct{}
	a15 struct{}
	a16 struct{}

	testObject struct {
		Value any `hessian:"_value"`
	}
	testCons struct {
		First any       `hessian:"_first"`
		Rest  *testCons `hessian:"_rest"`
	}
	stringArray []string
	hashtable   map[string]int32
)

const testPackage = "com.caucho.hessian.test."

func init() {
	hessian.Register[a0](testPackage + "A0")
	hessian.Register[a1](testPackage + "A1")
	hessian.Register[a2](testPackage + "A2")
	hessian.Register[a3](testPackage + "A3")
	hessian.Register[a4](testPackage + "A4")
	hessian.Register[a5](testPackage + "A5")
	hessian.Register[a6](testPackage + "A6")
	hessian.Register[a7](testPackage + "A7")
	hessian.Register[a8](testPackage + "A8")
	hessian.Register[a9](testPackage + "A9")
	hessian.Register[a10](testPackage + "A10")
	hessian.Register[a11](testPackage + "A11")
	hessian.Register[a12](testPackage + "A12")
	hessian.Register[a13](testPackage + "A13")
	hessian.Register[a14](testPackage + "A14")
	hessian.Register[a15](testPackage + "A15")
	hessian.Register[a16](testPackage + "A16")
	hessian.Register[testObject](testPackage + "TestObject")
	hessian.Register[testCons](testPackage + "TestCons")
	hessian.Register[stringArray]("[string")
	hessian.Register[hashtable]("java.util.Hashtable")
}

// judged is a value of the test by the end of its method's name.
type judged struct {
	name  string
	value any
}

func judgedValues() []judged {
	numbers := func(n int) (s []string) {
		for i := range n {
			s = append(s, fmt.Sprint(i+1))
		}
		return s
	}
	lines := func(n, length int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%02d 456789012345678901234567890123456789012345678901234567890123\n", i)
		}
		return b.String()[:length]
	}
	long := func() string {
		var b strings.Builder
		for i := range 64 * 16 {
			fmt.Fprintf(&b, "%d%d%d 56789012345678901234567890123456789012345678901234567890123\n", i/100, i/10%10, i%10)
		}
		return b.String()[:65536]
	}()
	const digits = "0123456789012345678901234567890123456789"
	minute := time.UnixMilli(894621091000).UTC()
	object, cons := &testObject{int32(0)}, &testCons{First: "a"}
	cons.Rest = cons
	listKey := func(typ string) *hessian.Map {
		return &hessian.Map{Type: typ, Entries: []hessian.Entry{{Key: []any{"a"}, Value: int32(0)}}}
	}
	all := []judged{
		{"Null", (*string)(nil)}, {"True", true}, {"False", false},
		{"Date_0", time.UnixMilli(0).UTC()}, {"Date_1", minute}, {"Date_2", minute.Truncate(time.Minute)},
		{"String_null", (*string)(nil)}, {"String_0", ""}, {"String_1", "0"}, {"String_31", digits[:31]}, {"String_32", digits[:32]},
		{"String_1023", lines(16, 1023)}, {"String_1024", lines(16, 1024)}, {"String_65536", long},
		{"Binary_null", []byte(nil)}, {"Binary_0", []byte{}}, {"Binary_1", []byte("0")}, {"Binary_15", []byte(digits[:15])},
		{"Binary_16", []byte(digits[:16])}, {"Binary_1023", []byte(lines(16, 1023))}, {"Binary_1024", []byte(lines(16, 1024))},
		{"Binary_65536", []byte(long)},
		{"UntypedFixedList_0", []string{}}, {"UntypedFixedList_1", numbers(1)}, {"UntypedFixedList_7", numbers(7)}, {"UntypedFixedList_8", numbers(8)},
		{"TypedFixedList_0", stringArray{}}, {"TypedFixedList_1", stringArray(numbers(1))}, {"TypedFixedList_7", stringArray(numbers(7))},
		{"TypedFixedList_8", stringArray(numbers(8))},
		{"UntypedMap_0", map[string]int32{}}, {"UntypedMap_1", map[string]int32{"a": 0}}, {"UntypedMap_2", map[int32]string{0: "a", 1: "b"}},
		{"UntypedMap_3", listKey("")},
		{"TypedMap_0", hashtable{}}, {"TypedMap_1", hashtable{"a": 0}},
		{"TypedMap_2", &hessian.Map{Type: "java.util.Hashtable", Entries: []hessian.Entry{{Key: int32(1), Value: "b"}, {Key: int32(0), Value: "a"}}}},
		{"TypedMap_3", listKey("java.util.Hashtable")},
		{"Object_0", a0{}}, {"Object_1", object}, {"Object_2", []*testObject{object, {int32(1)}}}, {"Object_2a", []*testObject{object, object}},
		{"Object_2b", []testObject{*object, *object}}, {"Object_3", cons},
		{"Object_16", []any{&a0{}, &a1{}, &a2{}, &a3{}, &a4{}, &a5{}, &a6{}, &a7{}, &a8{}, &a9{}, &a10{}, &a11{}, &a12{}, &a13{}, &a14{}, &a15{}, &a16{}}},
	}
	for _, v := range []int32{0, 1, 47, -16, 0x30, 0x7ff, -17, -0x800, 0x800, 0x3ffff, -0x801, -0x40000, 0x40000, 0x7fffffff, -0x40001, -0x80000000} {
		all = append(all, judged{"Int_" + javaNumber(int64(v), 47), v})
	}
	for _, v := range []int64{0, 1, 15, -8, 0x10, 0x7ff, -9, -0x800, 0x800, 0x3ffff, -0x801, -0x40000, 0x40000, 0x7fffffff, -0x40001, -0x80000000, 0x80000000, -0x80000001} {
		all = append(all, judged{"Long_" + javaNumber(v, 15), v})
	}
	for _, v := range []float64{0, 1, 2, 127, -128, 128, -129, 32767, -32768, 0.001, -0.001, 65.536, 3.14159} {
		name := strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(v), ".", "_"), "-", "m")
		if v == float64(int(v)) {
			name += "_0"
		}
		all = append(all, judged{"Double_" + name, v})
	}
	return all
}

// javaNumber names a number as the methods of the test do: decimal up to a limit and a little below zero, hexadecimal beyond.
func javaNumber(v int64, decimal int64) string {
	switch {
	case v < -17:
		return fmt.Sprintf("m0x%x", -v)
	case v < 0:
		return fmt.Sprintf("m%d", -v)
	case v <= decimal:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("0x%x", v)
}

func TestReadsWhatJavaWrites(t *testing.T) {
	read := 0
	for _, c := range judgedValues() {
		data, err := os.ReadFile(filepath.Join("testdata/reply", "reply"+c.name+".bin"))
		if err != nil {
			t.Error(err)
			continue
		}
		got := reflect.New(reflect.TypeOf(c.value))
		if err := hessian.Codec.Decode(data, got.Interface()); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !reflect.DeepEqual(got.Elem().Interface(), c.value) {
			t.Errorf("%s: got %#v, want %#v", c.name, got.Elem(), c.value)
			continue
		}
		read++
	}
	if read != 92 {
		t.Errorf("read %d of 92 values", read)
	}
}

func TestWritesTheSameBytesAsJava(t *testing.T) {
	for _, c := range judgedValues() {
		if c.name == "Binary_65536" {
			continue // Java cuts binary data where its buffer happens to end
		}
		want, err := os.ReadFile(filepath.Join("testdata/reply", "reply"+c.name+".bin"))
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := hessian.Codec.Append(nil, c.value)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: got %.200q, want %.200q", c.name, got, want)
		}
	}
}

func TestJavaAcceptsWhatIsWritten(t *testing.T) {
	run := javaArbiter(t)
	dir := t.TempDir()
	for _, c := range judgedValues() {
		writeValue(t, filepath.Join(dir, "arg"+c.name+".bin"), c.value)
	}
	accepted := 0
	for line := range strings.Lines(run("judge", dir)) {
		if name, verdict, _ := strings.Cut(strings.TrimSpace(line), " "); verdict != "ok" {
			t.Errorf("%s: %s", name, verdict)
		} else {
			accepted++
		}
	}
	t.Logf("Java accepted %d of 92 values", accepted)
	if accepted != 92 {
		t.Errorf("Java accepted %d of 92 values", accepted)
	}
}

func writeValue(t *testing.T, file string, v any) {
	t.Helper()
	data, err := hessian.Codec.Append(nil, v)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// jars lists the libraries of the Java side, by their paths at Maven Central, with their SHA-256.
var jars = map[string]string{
	"com/caucho/hessian/4.0.66/hessian-4.0.66.jar":      "e640042084a9f23436ce11430c4424832be783e0171f2c6b0e5eb9175a6c01c5",
	"javax/servlet/servlet-api/2.5/servlet-api-2.5.jar": "c658ea360a70faeeadb66fb3c90a702e4142a0ab7768f9ae9828678e0d9ad4dc",
}

// javaArbiter returns a function that runs testdata/java/Arbiter.java. It skips the test where there is no Java compiler or no
// way to Maven Central, since there is nothing to compare with then.
func javaArbiter(t *testing.T) func(args ...string) string {
	t.Helper()
	brokers.Slow(t)
	java, err := exec.LookPath("java")
	if err == nil {
		err = exec.Command("javac", "-version").Run()
	}
	if err != nil {
		brokers.NotTested(t, "against Java: no JDK here (%v): install default-jdk-headless, 17 or later", err)
	}
	path := brokers.Jars(t, jars)
	return func(args ...string) string {
		t.Helper()
		arguments := []string{"-Xshare:auto", "-cp", path}
		for _, open := range []string{"java.lang", "java.math", "java.util"} {
			arguments = append(arguments, "--add-opens", "java.base/"+open+"=ALL-UNNAMED")
		}
		command := exec.CommandContext(t.Context(), java, slices.Concat(arguments, []string{"testdata/java/Arbiter.java"}, args)...)
		var stderr bytes.Buffer
		command.Stderr = &stderr
		out, err := command.Output()
		if err != nil {
			t.Fatalf("java: %v\n%s", err, &stderr)
		}
		return string(out)
	}
}
