package names

import (
	"sort"
	"strings"
)

// Nearest returns up to three of the known names that name may be a slip of, the likeliest first.
func Nearest(name string, known []string) []string {
	const consider = 10_000 // bounds the work for a wrong name, however many are known
	type guess struct {
		name     string
		distance int
	}
	var guesses []guess
	limit := max(2, len(name)/4)
	short := name[strings.LastIndexByte(name, '.')+1:]
	for _, candidate := range known[:min(len(known), consider)] {
		d := editDistance(name, candidate, limit)
		if d > limit && strings.EqualFold(candidate[strings.LastIndexByte(candidate, '.')+1:], short) {
			d = limit // the right action of another service
		}
		if d <= limit {
			guesses = append(guesses, guess{candidate, d})
		}
	}
	sort.Slice(guesses, func(i, j int) bool { // slices.SortFunc takes 20 KB of the program for each struct
		a, b := guesses[i], guesses[j]
		return a.distance < b.distance || a.distance == b.distance && a.name < b.name
	})
	var list []string
	for _, g := range guesses[:min(3, len(guesses))] {
		list = append(list, g.name)
	}
	return list
}

// editDistance is the number of inserted, deleted and changed bytes between a and b (Wagner and Fischer 1974), or
// something above limit as soon as it must exceed that.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit || len(a) > MaxLength || len(b) > MaxLength {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, best := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, row[j+1]+1)
			best = min(best, row[j+1])
		}
		if best > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}
