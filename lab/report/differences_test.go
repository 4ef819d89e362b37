package report

import (
	"strings"
	"testing"
)

func TestTwoRunsAreComparedGroupByGroup(t *testing.T) {
	one := resultsOf(rates(contender("same", "Sabir", 200, 210, 190), contender("same", "a", 100, 100, 100), contender("other", "Sabir", 100), contender("other", "a", 100),
		contender("once", "Sabir", 1), contender("once", "a", 1)))
	other := resultsOf(rates(contender("same", "Sabir", 220, 231, 209), contender("same", "a", 100, 100, 100), contender("other", "Sabir", 300), contender("other", "b", 100)))
	var text strings.Builder
	if err := Differences(&text, one, other); err != nil {
		t.Fatal(err)
	}
	must(t, text.String(), "2 groups were measured in both. The ratios of 1 of them, 50 %, are within 20 % of each other",
		"| Calls, other | 1.00x of a, tie | 3.00x of b, first | 200 % |\n| Calls, same | 2.00x (1.90x to 2.10x) of a, first | 2.20x (2.09x to 2.31x) of a, first | 10 % |")
}

func TestRunsWithoutACommonGroupSaySo(t *testing.T) {
	var text strings.Builder
	if err := Differences(&text, resultsOf(), resultsOf()); err != nil {
		t.Fatal(err)
	}
	must(t, text.String(), "No group was measured in both runs.")
}
