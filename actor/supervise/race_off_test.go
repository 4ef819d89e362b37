//go:build !race

package supervise_test

const raceDetector = false
