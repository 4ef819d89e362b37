package main

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/cmd/sabir/testdata/depot"
	"github.com/sabir-go/sabir/internal/brokers"
)

// javaHost is this machine for programs of Java: of its usual addresses Dubbo dials others.
const javaHost = "provider.test"

// compileDepot compiles the interfaces of testdata/depot and the programs of Java that offer and call them, and returns where to.
func compileDepot(t *testing.T) (classes string) {
	t.Helper()
	classes = t.TempDir()
	own, err := os.Hostname()
	if err == nil {
		err = os.WriteFile(filepath.Join(classes, "hosts"), []byte("127.0.0.1 "+javaHost+"\n127.0.0.1 "+own+"\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{"-nowarn", "-parameters", "-cp", brokers.Jars(t, brokers.DubboJars), "-d", classes}
	err = filepath.WalkDir("testdata/depot/java", func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".java") {
			arguments = append(arguments, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), brokers.Program(t, "javac", "default-jdk-headless"), arguments...).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return classes
}

// jarOf packs a folder of classes.
func jarOf(t *testing.T, classes string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "depot.jar")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	jar := zip.NewWriter(file)
	if err := errors.Join(jar.AddFS(os.DirFS(classes)), jar.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// runDepot starts the program of Java, and returns the lines that it prints.
func runDepot(t *testing.T, classes string, arguments ...string) *bufio.Scanner {
	t.Helper()
	return runJava(t, classes, "com.depot.Main", brokers.DubboJars, arguments...)
}

func runJava(t *testing.T, classes, class string, jars map[string]string, arguments ...string) *bufio.Scanner {
	t.Helper()
	all := []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Djava.net.preferIPv4Stack=true", "-Duser.timezone=UTC", "-Djdk.net.hosts.file=" + filepath.Join(classes, "hosts"),
		"-cp", brokers.Jars(t, jars) + string(os.PathListSeparator) + classes, class}
	program := exec.Command(brokers.Program(t, "java", "default-jdk-headless"), append(all, arguments...)...)
	log, err := os.Create(filepath.Join(t.TempDir(), "java.log"))
	if err != nil {
		t.Fatal(err)
	}
	program.Dir, program.Stderr, program.Env = classes, log, append(os.Environ(), "HOME="+classes)
	in, err := program.StdinPipe() // at whose end it ends
	if err != nil {
		t.Fatal(err)
	}
	out, err := program.StdoutPipe()
	if err == nil {
		err = program.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		program.Process.Kill()
		program.Wait()
		log.Close()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("Java says\n%s", text)
		}
	})
	return bufio.NewScanner(out)
}

func depotNode(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	n := sabir.NewNode(append(options, sabir.Logger(slog.New(slog.DiscardHandler)))...)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Stop(context.Background()) })
	return n
}

func TestInterfacesOfDubboAreImportedAsAGoPackage(t *testing.T) {
	brokers.Long(t)
	classes := compileDepot(t)
	got := sabirRun(t, "import", "dubbo", jarOf(t, classes), "--interface", "com.depot.api.DepotService=depot", "--version", "1.0.0", "--package", "depot")
	const golden = "testdata/depot/depot.go" // which this test is compiled with
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.code != exitOK || got.out != string(want) || !strings.Contains(got.errOut, "note: java.util.Optional is any") {
		t.Errorf("exit code %d, %s; want %s, not\n%s", got.code, got.errOut, golden, got.out)
	}
	for _, scheme := range []string{"dubbo", "tri"} {
		t.Run(scheme+" to Java", func(t *testing.T) { callDepot(t, classes, scheme) })
		t.Run(scheme+" from Java", func(t *testing.T) { serveDepot(t, classes, scheme) })
	}
}

// callDepot calls a provider of Java by the package.
func callDepot(t *testing.T, classes, scheme string) {
	address, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	if lines := runDepot(t, classes, scheme, address[strings.LastIndexByte(address, ':')+1:]); !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the provider says %q, %v", lines.Text(), lines.Err())
	}
	n := depotNode(t, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{scheme + "://" + address: {depot.DepotService()}}}))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	id, left, height, yes, sold := int64(1)<<40, int32(3), float32(2.5), true, time.UnixMilli(86_400_000)
	item := depot.Item{ID: &id, Since: &depot.LocalDate{Year: 2024, Month: 2, Day: 29}, Name: "tea", Price: "2.50", Count: big.NewInt(1 << 62), Kind: depot.KindVeryLarge,
		Size: &depot.ItemSize{Width: 1.5, Height: &height}, Tags: []string{"x"}, Left: &left, Sold: &sold, Picture: []byte{1, 2}, Grade: "B"}
	item.Parent = &item // of which the input is a copy
	const itself = "1099511627776 tea since 2024-02-29 2.50 4611686018427387904 large 1.5x2.5 [x] 3 86400000 itself 2 B"
	put, err := depot.DepotServicePut.Call(ctx, n, item)
	if err != nil {
		t.Fatal(err)
	}
	if put.Name != "1099511627776 tea since 2024-02-29 2.50 4611686018427387904 large 1.5x2.5 [x] 3 86400000 "+itself+" 2 B" || put.Parent == put || put.Parent.Parent != put.Parent || *put.ID != id || *put.Since != *item.Since || put.Kind != item.Kind || *put.Size.Height != 2.5 || put.Count.Cmp(item.Count) != 0 || !put.Sold.Equal(sold) || put.Grade != "B" || string(put.Picture) != "\x01\x02" {
		t.Errorf("put: %+v", put)
	}
	if bare, err := depot.DepotServicePut.Call(ctx, n, depot.Item{Grade: "C"}); err != nil || bare.Name != "null  since null null null null null null null null null null C" || bare.ID != nil || bare.Sold != nil {
		t.Errorf("put of an empty item: %+v, %v", bare, err)
	}
	page, err := depot.DepotServiceSearch.Call(ctx, n, depot.DepotServiceSearchInput{Text: "found", Like: &depot.Page[*depot.Item]{Items: []*depot.Item{{Name: "a"}}, Total: 4}})
	if err != nil || page.Total != 5 || page.First.Name != "found" || len(page.Items) != 1 {
		t.Errorf("search: %+v, %v", page, err)
	}
	shapes, err := depot.DepotServiceGrow.Call(ctx, n, []any{&depot.ShapeCircle{Radius: 2}, &depot.ShapeSquare{Side: 3, Name: "s"}})
	if err != nil || len(shapes) != 2 || shapes[0].(*depot.ShapeCircle).Radius != 4 || *shapes[1].(*depot.ShapeSquare) != (depot.ShapeSquare{Side: 6, Name: "s"}) {
		t.Errorf("grow: %v, %v", shapes, err)
	}
	for name, c := range map[string]struct {
		call func() (any, error)
		want string
	}{
		"read": {func() (any, error) {
			i, err := depot.DepotServiceRead.Call(ctx, n, depot.DepotServiceReadInput{Key: &id})
			return fmt.Sprintln(*i.ID, *i.Since, i.Kind, i.Parent == i), err
		}, "1099511627776 {2024 2 29} VERY_LARGE true\n"},
		"sort": {func() (any, error) {
			return depot.DepotServiceSort.Call(ctx, n, depot.DepotServiceSortInput{Numbers: map[depot.Kind][]int32{depot.KindVeryLarge: {5}}, Names: map[int64]string{9: "nine"}})
		}, "map[SMALL:[9] VERY_LARGE:[5]]"},
		"shift": {func() (any, error) {
			at, err := depot.DepotServiceShift.Call(ctx, n, depot.DepotServiceShiftInput{At: &depot.LocalDateTime{Date: &depot.LocalDate{Year: 2024, Month: 2, Day: 28}, Time: &depot.LocalTime{Hour: 23}}, By: &depot.Duration{Seconds: 7200}})
			return fmt.Sprint(*at.Date, *at.Time), err
		}, "{2024 2 29} {1 0 0 0}"},
		"sums": {func() (any, error) {
			return depot.DepotServiceSums.Call(ctx, n, depot.DepotServiceSumsInput{First: []int32{1, 2}, Second: []string{"a", "bc"}})
		}, "[3 3]"},
		"maybe": {func() (any, error) {
			got, err := depot.DepotServiceMaybe.Call(ctx, n, depot.DepotServiceMaybeInput{Number: &left, Negative: &yes})
			return *got, err
		}, "-3"},
		"maybe null": {func() (any, error) {
			return depot.DepotServiceMaybe.Call(ctx, n, depot.DepotServiceMaybeInput{})
		}, "<nil>"},
		"get a text":   {func() (any, error) { return depot.DepotServiceGetString.Call(ctx, n, "a") }, "text a"},
		"get a number": {func() (any, error) { return depot.DepotServiceGetLong.Call(ctx, n, 8) }, "number 8"},
		"measure": {func() (any, error) {
			got, err := depot.DepotServiceMeasure.Call(ctx, n, depot.ItemSize{Width: 1, Height: &height})
			return got.Width, err
		}, "3.5"},
	} {
		if got, err := c.call(); err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, c.want)
		}
	}
	if _, err := depot.DepotServiceTake.Call(ctx, n, depot.DepotServiceTakeInput{Name: "tea", Amount: 1}); !errors.Is(err, depot.ErrNoneLeft) || !strings.Contains(err.Error(), "no tea") {
		t.Errorf("take: %v", err)
	}
}

// depotService is DepotService in Go.
func depotService() *sabir.Service {
	s := sabir.NewService("depot")
	depot.DepotServiceRead.Handle(s, func(_ context.Context, in depot.DepotServiceReadInput) (*depot.Item, error) {
		item := &depot.Item{ID: in.Key, Since: &depot.LocalDate{Year: 2024, Month: 2, Day: 29}, Kind: depot.KindVeryLarge, Grade: "A"}
		item.Parent = item
		return item, nil
	})
	depot.DepotServicePut.Handle(s, func(_ context.Context, in depot.Item) (*depot.Item, error) {
		in.Name += " of Go"
		in.Parent = &in
		return &in, nil
	})
	depot.DepotServiceSearch.Handle(s, func(_ context.Context, in depot.DepotServiceSearchInput) (*depot.Page[*depot.Item], error) {
		return &depot.Page[*depot.Item]{Items: in.Like.Items, First: &depot.Item{Name: in.Text}, Total: 5}, nil
	})
	depot.DepotServiceGrow.Handle(s, func(_ context.Context, in []any) ([]any, error) {
		in[0].(*depot.ShapeCircle).Radius *= 2
		return in, nil
	})
	depot.DepotServiceSort.Handle(s, func(_ context.Context, in depot.DepotServiceSortInput) (map[depot.Kind][]int32, error) {
		for key := range in.Names {
			in.Numbers[depot.KindSmall] = []int32{int32(key)}
		}
		return in.Numbers, nil
	})
	depot.DepotServiceShift.Handle(s, func(_ context.Context, in depot.DepotServiceShiftInput) (*depot.LocalDateTime, error) {
		in.At.Time.Hour = int32(in.By.Seconds / 3600)
		return in.At, nil
	})
	depot.DepotServiceSums.Handle(s, func(_ context.Context, in depot.DepotServiceSumsInput) ([]int64, error) {
		return []int64{int64(len(in.First)), int64(len(in.Second))}, nil
	})
	depot.DepotServiceMaybe.Handle(s, func(_ context.Context, in depot.DepotServiceMaybeInput) (*int32, error) { return in.Number, nil })
	depot.DepotServiceGetString.Handle(s, func(_ context.Context, in string) (string, error) { return "text " + in, nil })
	depot.DepotServiceGetLong.Handle(s, func(_ context.Context, in int64) (string, error) { return fmt.Sprint("number ", in), nil })
	depot.DepotServiceMeasure.Handle(s, func(_ context.Context, in depot.ItemSize) (*depot.ItemSize, error) {
		in.Width += float64(*in.Height)
		return &in, nil
	})
	depot.DepotServiceTake.Handle(s, func(_ context.Context, in depot.DepotServiceTakeInput) (sabir.Empty, error) {
		return sabir.Empty{}, depot.ErrNoneLeft
	})
	depot.DepotServiceHint.Handle(s, func(context.Context, sabir.Empty) (any, error) { return nil, nil })
	return s
}

// serveDepot has a consumer of Java call the interface in Go.
func serveDepot(t *testing.T, classes, scheme string) {
	address, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	depotNode(t, sabir.Serve(depotService()), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{scheme + "://" + address: {depot.DepotService()}}}))
	lines := runDepot(t, classes, scheme+"://"+javaHost+address[strings.LastIndexByte(address, ':'):])
	got := make(map[string]string)
	for lines.Scan() && lines.Text() != "end" {
		name, result, _ := strings.Cut(lines.Text(), " = ")
		got[name] = result
	}
	for name, want := range map[string]string{
		"read":         "7  since 2024-02-29 null null large null null null null itself null A",
		"put":          "1099511627776 tea of Go since 2024-02-29 2.50 1000000000000000000000000000000 large 1.5x2.5 [x] 3 86400000 itself 2 B",
		"search":       "5 found tea",
		"grow":         "4.0",
		"sort":         "{SMALL=[9], large=[5]}",
		"shift":        "2024-02-28T02:00",
		"sums":         "[2, 2]",
		"maybe":        "4",
		"maybe null":   "null",
		"get a text":   "text a",
		"get a number": "number 8",
		"measure":      "4.0",
		"take":         "com.depot.api.NoneLeftException: NoneLeftException",
	} {
		if got[name] != want {
			t.Errorf("%s: Java has %q, want %q", name, got[name], want)
		}
	}
}

// springBoot is a jar as Spring Boot packs it, with the interfaces of testdata/depot in a library.
func springBoot(t *testing.T) string {
	t.Helper()
	library, err := os.ReadFile("../../internal/javaclass/testdata/depot.jar")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(folder, "BOOT-INF/lib"), 0o700), os.WriteFile(filepath.Join(folder, "BOOT-INF/lib/depot.jar"), library, 0o600)); err != nil {
		t.Fatal(err)
	}
	return jarOf(t, folder)
}

func TestInterfacesAreImportedFromTheLibrariesOfAJarOfSpringBoot(t *testing.T) {
	got := sabirRun(t, "import", "dubbo", springBoot(t), "--interface", "com.depot.api.DepotService=depot", "--version", "1.0.0", "--package", "depot")
	want, err := os.ReadFile("testdata/depot/depot.go") // which calls Java above
	if err != nil {
		t.Fatal(err)
	}
	if got.code != exitOK || got.out != string(want) {
		t.Errorf("exit code %d, %s:\n%s", got.code, got.errOut, got.out)
	}
}

func TestAnImportOfDubboSaysWhatItWants(t *testing.T) {
	empty := jarOf(t, t.TempDir())
	text := filepath.Join(t.TempDir(), "text.jar")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"a jar with interfaces":                   {"import", "dubbo"},
		"name one of these with --interface":      {"import", "dubbo", springBoot(t)},
		"cannot be read as a jar":                 {"import", "dubbo", text},
		"there is no interface with methods":      {"import", "dubbo", empty},
		"there is no interface com.shop.Orders i": {"import", "dubbo", empty, "--interface", "com.shop.Orders"},
	} {
		if got := sabirRun(t, args...); got.code == exitOK || !strings.Contains(got.errOut, want) {
			t.Errorf("%v: exit code %d, %s, want %q", args, got.code, got.errOut, want)
		}
	}
}
