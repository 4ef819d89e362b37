package documents

import "testing"

func TestDocumentsHaveTheLengthsOfMoleculersBenchmark(t *testing.T) {
	want := map[string]int{"10 B": 10, "150 B": 150, "1 kB": 1052, "10 kB": 10449, "50 kB": 50522, "100 kB": 101021, "1 MB": 1010003}
	for _, size := range Sizes {
		text, err := JSON(size)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) != want[size] {
			t.Errorf("%s: the document has %d bytes of JSON, want %d", size, len(text), want[size])
		}
	}
	if _, err := JSON("11 B"); err == nil {
		t.Error("there is a document of 11 B")
	}
}
