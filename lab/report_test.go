package main

import (
	"testing"

	"github.com/sabir-go/sabir/lab/bench"
)

func TestOlderResultsAreShownWithTodaysColumnsAndReasons(t *testing.T) {
	old := []bench.Column{{Key: "old"}}
	results := &bench.Results{Seeds: []bench.SeedResult{{Name: "x", Tables: []bench.TableResult{
		{Name: "kept", Columns: old}, {Name: "gone", Columns: old}}}}}
	asToday(results, []bench.Seed{
		{Name: "x", Tables: []bench.Table{{Name: "kept", Columns: []bench.Column{{Key: "new"}}, Why: map[string]string{"": "a profile"}}}},
		{Name: "y", Tables: []bench.Table{{Name: "gone", Columns: []bench.Column{{Key: "of another seed"}}}}}})
	kept, gone := results.Seeds[0].Tables[0], results.Seeds[0].Tables[1]
	if kept.Columns[0].Key != "new" || kept.Why[""] != "a profile" {
		t.Errorf("got %+v", kept)
	}
	if gone.Columns[0].Key != "old" {
		t.Errorf("a table that is no more: %+v", gone)
	}
}
