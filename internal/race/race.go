// Package race tells tests whether they run under the race detector, which allocates where the program does not, and takes
// ten times as long.
package race
