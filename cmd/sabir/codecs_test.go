package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec"
)

// codecReport is the output of sabir codecs --json.
type codecReport struct {
	Document int        `json:"document_bytes"`
	Codecs   []codecRow `json:"codecs"`
}

func codecsOf(t *testing.T, document string) codecReport {
	t.Helper()
	got := sabirRunWith(t, strings.NewReader(document), "codecs", "-", "--json", "--time", "1ms")
	if got.code != 0 || got.errOut != "" {
		t.Fatalf("exit code %d: %s", got.code, got.errOut)
	}
	var report codecReport
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("%v in %s", err, got.out)
	}
	return report
}

func TestCodecsMeasuresEveryCodecOnTheSample(t *testing.T) {
	report := codecsOf(t, sampleDocument)
	var names []string
	for _, row := range report.Codecs {
		names = append(names, row.Codec)
		if row.Problem != "" {
			t.Errorf("%s: %s", row.Codec, row.Problem)
			continue
		}
		if row.Bytes == 0 || row.EncodeNs <= 0 || row.DecodeNs <= 0 || row.EncodeMB <= 0 || row.DecodeMB <= 0 {
			t.Errorf("%+v", row)
		}
		if row.Codec == "json" && row.Bytes != report.Document {
			t.Errorf("as JSON the document has %d bytes, and %d elsewhere", row.Bytes, report.Document)
		}
	}
	slices.Sort(names)
	if want := codec.Names(); !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func TestCodecsPrintsATable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "order.json")
	if err := os.WriteFile(file, []byte(sampleDocument), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"codecs", "--time", "1ms"}, {"codecs", file, "--time", "1ms"}} {
		got := sabirRun(t, args...)
		for _, want := range []string{"CODEC", "BYTES", "ENCODE", "DECODE", "msgpack", "cbor", "json", "100 %"} {
			if got.code != 0 || !strings.Contains(got.out, want) {
				t.Errorf("%q: %q is missing, exit code %d:\n%s%s", args, want, got.code, got.out, got.errOut)
			}
		}
	}
}

func TestCodecsSaysWhichCodecCannotHoldTheDocument(t *testing.T) {
	for _, row := range codecsOf(t, `{"list":[{"a":1},null]}`).Codecs {
		switch row.Codec {
		case "json", "msgpack", "cbor":
			if row.Problem != "" {
				t.Errorf("%s: %s", row.Codec, row.Problem)
			}
		case "gob":
			if !strings.Contains(row.Problem, "nil") || row.Bytes != 0 {
				t.Errorf("%+v, want a problem that names the nil", row)
			}
		}
	}
}

func TestCodecsRefusesWhatCannotBeMeant(t *testing.T) {
	for _, test := range []struct {
		stdin, want string
		args        []string
	}{
		{"{", "not JSON", []string{"codecs", "-"}},
		{"", "empty", []string{"codecs", "-"}},
		{`{"a":1,"a":2}`, "twice", []string{"codecs", "-"}},
		{"{}", "no such file", []string{"codecs", "no-such-file.json"}},
		{"{}", "--time", []string{"codecs", "-", "--time", "0s"}},
		{"{}", "--time", []string{"codecs", "-", "--time", "1h"}},
	} {
		got := sabirRunWith(t, strings.NewReader(test.stdin), test.args...)
		if got.code != exitUsage || !strings.Contains(got.errOut, test.want) {
			t.Errorf("%q: exit code %d, %q, want %q", test.args, got.code, got.errOut, test.want)
		}
	}
}

func TestDocumentsBecomeGoTypes(t *testing.T) {
	for document, want := range map[string]any{
		`1`:                    int64(0),
		`1.5`:                  float64(0),
		`18446744073709551615`: float64(0),
		`"a"`:                  "",
		`true`:                 false,
		`null`:                 (*string)(nil),
		`[]`:                   []string(nil),
		`[1,2]`:                []int64(nil),
		`[1,2.5]`:              []float64(nil),
		`[1,null]`:             []*int64(nil),
		`[1,"a"]`:              []any(nil),
		`[[1],[]]`:             [][]int64(nil),
		`{"a":1}`: struct {
			F0 int64 `json:"a"`
		}{},
		`{"b":[true],"a":null}`: struct {
			F0 *string `json:"a,omitempty"`
			F1 []bool  `json:"b"`
		}{},
		`[{"a":1},{"a":2,"b":"x"},{"b":null}]`: []struct {
			F0 *int64  `json:"a,omitempty"`
			F1 *string `json:"b,omitempty"`
		}(nil),
		`{"a b":1,"c":2}`:   map[string]int64(nil),
		`{"a b":1,"c":"x"}`: map[string]any(nil),
		`{"":null}`:         map[string]*string(nil),
		`{}`:                struct{}{},
	} {
		got, err := typeOfDocument([]byte(document))
		if err != nil || got != reflect.TypeOf(want) {
			t.Errorf("%s: got %v, %v, want %T", document, got, err, want)
		}
	}
}
