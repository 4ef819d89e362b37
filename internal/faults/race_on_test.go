//go:build unix && race

package faults_test

// raceEnabled reports that the race detector is on, under which everything takes several times as long.
const raceEnabled = true
