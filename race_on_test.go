//go:build race

package sabir_test

// raceEnabled reports that the race detector is on, which allocates where the program does not.
const raceEnabled = true
