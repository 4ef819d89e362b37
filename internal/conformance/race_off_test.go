//go:build !race

package conformance_test

// sizes are those of the large cluster.
var sizes = []int{3, 10, 30, 100}

// atOnce is the number of behaviours that run at once: they wait more than they work.
const atOnce = "12"
