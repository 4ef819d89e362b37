//go:build !unix

package processor

import "runtime/metrics"

// Seconds is the time for which goroutines and the runtime have run, as of the last garbage collection.
func Seconds() float64 {
	samples := []metrics.Sample{{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(samples)
	return samples[0].Value.Float64() - samples[1].Value.Float64()
}
