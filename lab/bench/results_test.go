package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestResultsAreTheSameAfterAFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.json")
	r := &Results{Machine: Machine{Processor: "p", Cores: 2}, Rounds: 5, Seeds: []SeedResult{{Name: "x", Tables: []TableResult{{Name: "t",
		Rows: []RowResult{{Name: "r", Rounds: []Round{{Figures: map[string]float64{"rate": 3}, Foreign: 1}, {Figures: map[string]float64{"rate": 1}}}}}}}}}}
	if err := r.Save(file); err != nil {
		t.Fatal(err)
	}
	got, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	spread, ok := got.Seeds[0].Tables[0].Rows[0].Spread("rate")
	if !ok || spread.Median != 2 || spread.Min != 1 || spread.Max != 3 {
		t.Errorf("the rate is %+v, %v", spread, ok)
	}
	if _, ok := got.Seeds[0].Tables[0].Rows[0].Spread("p99"); ok {
		t.Error("a figure is there that was not measured")
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("files %v, %v", left, err)
	}
}

func TestSeedsOfLaterFilesTakeThePlaceOfEarlierOnes(t *testing.T) {
	dir := t.TempDir()
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	save := func(name string, cores int, seeds ...SeedResult) string {
		file := filepath.Join(dir, name)
		begun := noon.Add(-time.Duration(len(seeds)) * time.Hour)
		if err := (&Results{Machine: Machine{Cores: cores}, Begun: begun, Rounds: 5, Seeds: seeds}).Save(file); err != nil {
			t.Fatal(err)
		}
		return file
	}
	a := save("a", 2, SeedResult{Name: "x", Title: "old"}, SeedResult{Name: "y"})
	b := save("b", 2, SeedResult{Name: "x", Title: "new"}, SeedResult{Name: "z"}, SeedResult{Name: "w"})
	got, err := Load(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Seeds) != 4 || got.Seeds[0].Title != "new" {
		t.Errorf("seeds %+v", got.Seeds)
	}
	if earliest := noon.Add(-3 * time.Hour); !got.Begun.Equal(earliest) {
		t.Errorf("begun at %v, want %v", got.Begun, earliest)
	}
	if _, err := Load(a, save("c", 4)); err == nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("results of another machine: %v", err)
	}
}

func TestFilesThatAreNoResultsAreRecognized(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.json")
	if _, err := Load(file); err == nil || !strings.Contains(err.Error(), "go run -C lab . run") {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(file, []byte("<html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil || !strings.Contains(err.Error(), "has no results") {
		t.Errorf("a page: %v", err)
	}
	if _, err := Load(); err == nil {
		t.Error("no file at all was read")
	}
}
