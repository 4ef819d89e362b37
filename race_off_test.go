//go:build !race

package sabir_test

const raceEnabled = false
