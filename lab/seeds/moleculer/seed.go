// Package moleculer repeats Moleculer's benchmarks in the lab.
package moleculer

import (
	"slices"

	"github.com/sabir-go/sabir/lab/bench"
)

// Seed has all its tables.
func Seed() bench.Seed {
	return bench.Seed{Name: "moleculer", Title: "Moleculer",
		About: "Moleculer's own benchmark (Node 8, Windows 7, Core i7-4770K): local and remote calls of a service broker, and what each of its parts costs.",
		Tables: slices.Concat(localTables(), middlewareTables(), telemetryTables(), cacheTables(), validatorTables(), eventTables(), growthTables(),
			remoteTables(), serializerTables(), bridgeTables()),
	}
}
