package codectest

import (
	"reflect"
	"testing"
)

// The tags with numbers are for formats that know fields by number; those that have no such tag go by the order.
type (
	older struct {
		ID    int64  `json:"id" protobuf:"1" thrift:"1"`
		Name  string `json:"name" protobuf:"2" thrift:"2"`
		Gone  string `json:"gone" protobuf:"3" thrift:"3"`
		Lines []struct {
			Product string `json:"product" protobuf:"1" thrift:"1"`
			Count   int32  `json:"count" protobuf:"2" thrift:"2"`
		} `json:"lines" protobuf:"4" thrift:"4"`
	}
	newer struct {
		Lines []struct {
			Price   float64  `json:"price" protobuf:"3" thrift:"3"`
			Count   int32    `json:"count" protobuf:"2" thrift:"2"`
			Product string   `json:"product" protobuf:"1" thrift:"1"`
			Notes   []string `json:"notes" protobuf:"4" thrift:"4"`
		} `json:"lines" protobuf:"4" thrift:"4"`
		Added *address          `json:"added" protobuf:"5" thrift:"5"`
		Tags  map[string]string `json:"tags" protobuf:"6" thrift:"6"`
		Name  string            `json:"name" protobuf:"2" thrift:"2"`
		ID    int64             `json:"id" protobuf:"1" thrift:"1"`
	}
	narrow struct {
		A int32    `json:"a"`
		B uint8    `json:"b"`
		C float32  `json:"c"`
		D []int16  `json:"d"`
		E *float32 `json:"e"`
	}
	wide struct {
		A int64    `json:"a"`
		B uint64   `json:"b"`
		C float64  `json:"c"`
		D []int32  `json:"d"`
		E *float64 `json:"e"`
	}
)

func evolution(t *testing.T, s *suite) {
	old := older{ID: 7, Name: "Ada", Gone: "gone"}
	old.Lines = append(old.Lines, struct {
		Product string `json:"product" protobuf:"1" thrift:"1"`
		Count   int32  `json:"count" protobuf:"2" thrift:"2"`
	}{"tea", 3})
	data := s.encode(t, old)
	var read newer
	err := s.Decode(data, &read)
	if !s.Evolves {
		if err == nil {
			t.Errorf("bytes of another version were read as %+v", read)
		}
		s.mustBeCodecError(t, "another version", err)
		return
	}
	if err != nil {
		t.Fatalf("a newer reader: %v", err)
	}
	if read.ID != 7 || read.Name != "Ada" || len(read.Lines) != 1 || read.Lines[0].Product != "tea" || read.Lines[0].Count != 3 {
		t.Errorf("a newer reader got %+v from %+v", read, old)
	}
	if read.Added != nil || len(read.Tags) != 0 || read.Lines[0].Price != 0 || len(read.Lines[0].Notes) != 0 {
		t.Errorf("fields that the writer does not have are %+v, want zero values", read)
	}

	read.Added = &address{Street: "a"}
	read.Tags = map[string]string{"a": "b"}
	read.Lines[0].Price, read.Lines[0].Notes = 2.5, []string{"hot"}
	var back older
	if err := s.Decode(s.encode(t, read), &back); err != nil {
		t.Fatalf("an older reader: %v", err)
	}
	old.Gone = ""
	if !reflect.DeepEqual(back, old) {
		t.Errorf("an older reader got %+v, want %+v", back, old)
	}
}

// The tags with numbers are as above.
type (
	camel struct {
		UserID string `json:"userId" protobuf:"1" thrift:"1"`
		Left   int32  `json:"left" protobuf:"2" thrift:"2"`
	}
	upper struct {
		UserID string `json:"userID" protobuf:"1" thrift:"1"`
		Left   int32  `json:"left" protobuf:"2" thrift:"2"`
	}
)

// otherCase tests a field whose name has another case at the reader: it is read or refused, never left out.
func otherCase(t *testing.T, s *suite) {
	for _, test := range []struct {
		name  string
		value any
		into  any
		read  func(any) string
	}{
		{"at the top", camel{"a", 3}, new(upper), func(v any) string { return v.(*upper).UserID }},
		{"in a list", []camel{{"a", 3}}, new([]upper), func(v any) string { return (*v.(*[]upper))[0].UserID }},
		{"behind a pointer", &camel{"a", 3}, new(*upper), func(v any) string { return (*v.(**upper)).UserID }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := s.Decode(s.encode(t, test.value), test.into); err != nil {
				s.mustBeCodecError(t, "a name in another case", err)
			} else if got := test.read(test.into); got != "a" {
				t.Errorf("the field userId was read as %q into userID, with no error", got)
			}
		})
	}
}

func widening(t *testing.T, s *suite) {
	if !s.Widens {
		return
	}
	half := float32(0.5)
	data := s.encode(t, narrow{-5, 200, 1.5, []int16{-300, 3}, &half})
	var got wide
	if err := s.Decode(data, &got); err != nil {
		t.Fatal(err)
	}
	double := 0.5
	if want := (wide{-5, 200, 1.5, []int32{-300, 3}, &double}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
