package javaclass

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// zipOf packs files into a zip, by their names in the order given.
func zipOf(t testing.TB, files ...any) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i].(string))
		if err == nil {
			_, err = w.Write(files[i+1].([]byte))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// classOfDepot is a compiled class of the depot.
func classOfDepot(t testing.TB, name string) []byte {
	t.Helper()
	jar, err := zip.OpenReader(depot)
	if err != nil {
		t.Fatal(err)
	}
	defer jar.Close()
	in, err := jar.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readJar(t testing.TB, data []byte) (Classes, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.jar")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	classes := make(Classes)
	return classes, classes.ReadJar(file)
}

func TestAJarOfSpringBootHasTheClassesOfTheProgramAndOfItsLibraries(t *testing.T) {
	library, err := os.ReadFile(depot)
	if err != nil {
		t.Fatal(err)
	}
	item := classOfDepot(t, "com/depot/api/Item.class")
	for folder, jar := range map[string][]byte{
		"BOOT-INF": zipOf(t, "BOOT-INF/lib/depot.jar", library, "BOOT-INF/classes/com/depot/api/Item.class", item),
		"WEB-INF":  zipOf(t, "WEB-INF/lib/depot.jar", library, "WEB-INF/classes/com/depot/api/Item.class", item),
	} {
		classes, err := readJar(t, jar)
		if err != nil || len(classes) != 12 || classes["com.depot.api.Item"].Library || !classes["com.depot.api.DepotService"].Library {
			t.Errorf("%s: %d classes, %v", folder, len(classes), err)
		}
	}
}

func TestJarsWithinLibrariesAreNotRead(t *testing.T) {
	library, err := os.ReadFile(depot)
	if err != nil {
		t.Fatal(err)
	}
	jar := zipOf(t, "BOOT-INF/lib/outer.jar", zipOf(t, "BOOT-INF/lib/depot.jar", library), "elsewhere/depot.jar", library)
	if classes, err := readJar(t, jar); err != nil || len(classes) != 0 {
		t.Errorf("%d classes, %v", len(classes), err)
	}
}

func TestAClassThatCannotBeReadIsThereWithItsFault(t *testing.T) {
	item := classOfDepot(t, "com/depot/api/Item.class")
	library := zipOf(t, "com/shop/Large.class", make([]byte, maxClass+1), "com/depot/api/Item.class", item)
	classes, err := readJar(t, zipOf(t, "BOOT-INF/classes/com/shop/Cut.class", item[:100], "BOOT-INF/lib/a.jar", library, "of a tool.class", []byte("text")))
	if err != nil || len(classes) != 3 || classes["com.depot.api.Item"].Fault != nil {
		t.Fatalf("%d classes, %v", len(classes), err)
	}
	for name, want := range map[string]string{"com.shop.Cut": `"BOOT-INF/classes/com/shop/Cut.class" of `, "com.shop.Large": "larger than"} {
		if fault := classes[name].Fault; fault == nil || !strings.Contains(fault.Error(), want) {
			t.Errorf("%s: %v, want %s", name, fault, want)
		}
	}
}

func TestALibraryThatIsNoJarOrTooLargeIsRefused(t *testing.T) {
	if _, err := readJar(t, zipOf(t, "BOOT-INF/lib/broken.jar", []byte("text"))); err == nil || !strings.Contains(err.Error(), "broken.jar") || !strings.Contains(err.Error(), "cannot be read as a jar") {
		t.Errorf("a text as a library: %v", err)
	}
	r := jarReader{classes: make(Classes), files: 10, left: 100}
	packed := zipOf(t, "bomb.jar", make([]byte, 1<<20)) // of about a thousand bytes
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.readNested(z.File[0]); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a library of more than is left: %v", err)
	}
	r = jarReader{classes: make(Classes), files: 10, left: 100}
	faulty := zipOf(t, "A.class", make([]byte, 60), "B.class", make([]byte, 60))
	if z, err = zip.NewReader(bytes.NewReader(faulty), int64(len(faulty))); err != nil {
		t.Fatal(err)
	}
	if err := r.readClasses(z, "a.jar"); err == nil || !strings.Contains(err.Error(), "B.class") {
		t.Errorf("classes that cannot be read, of more than is left: %v", err)
	}
	if r = (jarReader{classes: make(Classes), files: 0, left: maxBytes}); r.readClasses(z, "a.jar") == nil {
		t.Error("more files than are read are not refused")
	}
}

func FuzzReadJar(f *testing.F) {
	item := classOfDepot(f, "com/depot/api/Item.class")
	f.Add(zipOf(f, "BOOT-INF/classes/Item.class", item, "BOOT-INF/lib/a.jar", zipOf(f, "Item.class", item)))
	f.Add(zipOf(f, "BOOT-INF/lib/a.jar", []byte("PK")))
	f.Add(zipOf(f, "Item.class", item))
	f.Fuzz(func(t *testing.T, data []byte) {
		jar, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		r := jarReader{classes: make(Classes), files: 100, left: 1 << 20}
		if r.readClasses(jar, "it") != nil {
			return
		}
		for _, f := range jar.File {
			_ = r.readNested(f)
		}
		if r.left < 0 {
			t.Errorf("%d bytes more than the bound were read", -r.left)
		}
	})
}
