package table

import (
	"math"
	"strings"
	"testing"
)

func TestColumnsAreAlignedByTheirWidestCell(t *testing.T) {
	table := New("name", "µs", "note")
	table.Row("a", "1", "x")
	table.Rule("limits")
	table.Row("longer", "123", "yes")
	table.Row("rough", "~2")
	table.Row("none", "-")
	var out strings.Builder
	if err := table.Print(&out); err != nil {
		t.Fatal(err)
	}
	want := "name     µs  note\n------  ---  ----\na         1  x\n-- limits\nlonger  123  yes\nrough    ~2\nnone      -\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestMedianWithSpread(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   Spread
	}{
		"none":      {nil, Spread{}},
		"one":       {[]float64{3}, Spread{3, 3, 3}},
		"odd":       {[]float64{9, 1, 5}, Spread{5, 1, 9}},
		"even":      {[]float64{4, 1, 2, 9}, Spread{3, 1, 9}},
		"unordered": {[]float64{2, 2, 1, 7, 3}, Spread{2, 1, 7}},
	} {
		if got := SpreadOf(c.values); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	if got := (Spread{10, 9, 12}).Percent(); got != 15 {
		t.Errorf("from 9 to 12 around 10 is ±%v%%, want 15", got)
	}
}

func TestSpreadDoesNotReorderItsInput(t *testing.T) {
	values := []float64{3, 1, 2}
	SpreadOf(values)
	if values[0] != 3 || values[1] != 1 || values[2] != 2 {
		t.Errorf("values are now %v", values)
	}
}

func TestGeometricMean(t *testing.T) {
	if got := GeometricMean([]float64{1, 100}); math.Abs(got-10) > 1e-9 {
		t.Errorf("of 1 and 100: %v, want 10", got)
	}
	if got := GeometricMean([]float64{4, 0}); got != 0 {
		t.Errorf("with a zero: %v, want 0", got)
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		Count(1234567): "1 234 567", Count(999): "999", Count(-1000): "-1 000", Count(0): "0",
		Digits(0.1234): "0.123", Digits(1.234): "1.23", Digits(12.34): "12.3", Digits(1234.4): "1234",
		Micros(1500): "1.50",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
