// Package simulation runs whole clusters of real nodes in one process, under the clock of testing/synctest and over a network that
// breaks by a seed, and checks what the nodes promise. A minute of a cluster takes some milliseconds, so it sees thousands of
// histories where a test with processes sees one.
//
// A [History] follows from its seed: which nodes there are, what their callers do and when, and what befalls the network and the
// nodes meanwhile. [Run] plays it, then lets everything heal, and checks the record of what was called, handled and answered.
// [Shrink] leaves out what a failure does not need.
//
// docs/simulation.md says what is checked, what a replay repeats, and what a simulation cannot see.
package simulation
