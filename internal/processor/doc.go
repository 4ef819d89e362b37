// Package processor tells how much of the processors this process has used.
package processor
