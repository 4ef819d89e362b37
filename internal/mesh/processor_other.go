//go:build !unix

package mesh

import "runtime/metrics"

// processorSeconds is the time that goroutines and the runtime have run, as of the last garbage collection.
func processorSeconds() float64 {
	samples := []metrics.Sample{{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(samples)
	return samples[0].Value.Float64() - samples[1].Value.Float64()
}
