//go:build !race

package conformance_test

// sizes are those of the large cluster.
var sizes = []int{3, 10, 30, 100}
