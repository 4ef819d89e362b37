package gomicro

import (
	"reflect"
	"strings"
	"testing"
)

// FuzzServices reads bytes as the record of a service, and as a compressed text.
func FuzzServices(f *testing.F) {
	s := Service{Name: "lab", Version: "latest", Endpoints: []Endpoint{{Name: "Lab.Add", Metadata: map[string]string{"stream": "true"}}}, Nodes: []Node{{ID: "lab-1", Address: "127.0.0.1:80"}}}
	text, err := s.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(Deflate(text)))
	f.Add([]byte(`{"name":"lab","endpoints":[{"request":{"name":"In","type":"In","values":[]},"name":"Lab.Add"}],"nodes":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		Inflate(string(data))
		one, err := DecodeService(data)
		if err != nil {
			return
		}
		text, err := one.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := DecodeService(text); len(text) <= MaxService && (err != nil || len(again.Nodes) != len(one.Nodes) || again.Name != one.Name) {
			t.Errorf("%+v became %+v, %v", one, again, err)
		}
	})
}

func TestTextsAreCompressedAsGoMicroDoes(t *testing.T) {
	const text = `{"Service":"lab"}`
	if got, err := Inflate(Deflate([]byte(text))); err != nil || string(got) != text {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := Inflate(Deflate([]byte(strings.Repeat("x", MaxService+1)))); err == nil {
		t.Errorf("%d bytes were read", len(got))
	}
}

func TestRecordsAreBounded(t *testing.T) {
	for _, text := range []string{"", "null", "{}", `{"name":""}`, `{"name":"lab","version":"` + strings.Repeat("x", MaxService) + `"}`, strings.Repeat(`{"nodes":`, 20_000)} {
		if s, err := DecodeService([]byte(text)); err == nil {
			t.Errorf("%.40s: %+v", text, reflect.TypeOf(s))
		}
	}
}
