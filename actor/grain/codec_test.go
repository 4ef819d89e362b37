package grain

import (
	"reflect"
	"testing"
)

type old struct {
	Name  string
	Count int
}

type newer struct {
	Name  string
	Count int64
	Tags  []string
}

func TestFieldsMayBeAddedAndRemovedBetweenDeployments(t *testing.T) {
	for name, form := range map[string]byte{"JSON": formJSON, "native": formNative} {
		t.Run(name, func(t *testing.T) {
			data, err := encodeState(nil, form, &old{"ada", 5})
			if err != nil {
				t.Fatal(err)
			}
			if data[0] != form {
				t.Fatalf("the first byte is %q", data[0])
			}
			var grown newer
			if err := decodeState(data, &grown); err != nil || !reflect.DeepEqual(grown, newer{Name: "ada", Count: 5}) {
				t.Fatalf("read by a newer program: %+v, %v", grown, err)
			}
			data, err = encodeState(nil, form, &newer{"ada", 6, []string{"x"}})
			if err != nil {
				t.Fatal(err)
			}
			var back old
			if err := decodeState(data, &back); name == "JSON" && (err != nil || back != old{"ada", 6}) {
				t.Fatalf("read by an older program: %+v, %v", back, err)
			}
		})
	}
}

func TestAStateInJSONIsReadable(t *testing.T) {
	data, err := encodeState(nil, formJSON, &old{"ada", 5})
	if want := `j{"Name":"ada","Count":5}`; err != nil || string(data) != want {
		t.Fatalf("got %s, %v, want %s", data, err, want)
	}
}

func TestAStateThatCannotBeWrittenIsAnError(t *testing.T) {
	type bad struct{ C chan int }
	for _, form := range []byte{formJSON, formNative} {
		if _, err := encodeState(nil, form, &bad{}); err == nil {
			t.Errorf("form %q: no error", form)
		}
	}
}

func FuzzDecodeState(f *testing.F) {
	for _, form := range []byte{formJSON, formNative} {
		data, err := encodeState(nil, form, &newer{"ada", 6, []string{"x"}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Add([]byte{})
	f.Add([]byte("x"))
	f.Add([]byte{formNative, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var v newer
		if decodeState(data, &v) != nil {
			return
		}
		for _, form := range []byte{formJSON, formNative} {
			again, err := encodeState(nil, form, &v)
			if err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
			var w newer
			if err := decodeState(again, &w); err != nil {
				t.Fatalf("what was written cannot be read: %v", err)
			}
		}
	})
}
