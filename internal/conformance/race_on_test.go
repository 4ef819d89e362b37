//go:build race

package conformance_test

// sizes are smaller with the race detector, under which the 9,900 ends of links of a hundred nodes take over a minute.
var sizes = []int{3, 10, 20}

// atOnce is the number of behaviours that run at once: with the race detector they work as much as they wait.
const atOnce = "6"
