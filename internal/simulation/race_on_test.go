//go:build race

package simulation_test

// usualCount is less with the race detector, which takes ten times as long.
const usualCount = 20
