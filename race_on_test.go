//go:build race

package sabir_test

// raceEnabled tells that the race detector is on, which allocates where the program does not.
const raceEnabled = true
