package simulation

import (
	"fmt"
	"strconv"
	"strings"
)

// Shrink leaves out steps of a history for as long as it still fails, and returns what is left, one step at least. It asks fails at most
// so often.
func Shrink(h History, attempts int, fails func(History) bool) History {
	for part := len(h.Steps) / 2; part > 0; {
		shrunk := false
		for from := 0; from < len(h.Steps) && attempts > 0; attempts-- {
			fewer := h
			to := min(from+part, len(h.Steps))
			fewer.Steps = append(append([]Step(nil), h.Steps[:from]...), h.Steps[to:]...)
			if len(fewer.Steps) > 0 && fails(fewer) {
				h, shrunk = fewer, true
			} else {
				from = to
			}
		}
		if attempts == 0 {
			break
		}
		if !shrunk || part > len(h.Steps) {
			part /= 2
		}
	}
	return h
}

// Numbers lists the steps of the history, as ParseNumbers reads them: "0-3,7".
func (h History) Numbers() string {
	var parts []string
	for i := 0; i < len(h.Steps); {
		j := i
		for j+1 < len(h.Steps) && h.Steps[j+1].Number == h.Steps[j].Number+1 {
			j++
		}
		part := strconv.Itoa(h.Steps[i].Number)
		if j > i {
			part += "-" + strconv.Itoa(h.Steps[j].Number)
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// ParseNumbers reads a list such as "0-3,7".
func ParseNumbers(text string) (list []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from > to || to-from > 100_000 {
			return nil, fmt.Errorf("%q is no list of numbers such as 0-3,7", text)
		}
		for n := from; n <= to; n++ {
			list = append(list, n)
		}
	}
	return list, nil
}
