// Package seeds has the benchmark reports that the lab makes anew, a package each.
package seeds

import (
	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/seeds/ergo"
	"github.com/sabir-go/sabir/lab/seeds/gomicro"
	"github.com/sabir-go/sabir/lab/seeds/hsf"
	"github.com/sabir-go/sabir/lab/seeds/mion"
	"github.com/sabir-go/sabir/lab/seeds/moleculer"
)

// All of them, in the order of the report.
func All() []bench.Seed {
	return []bench.Seed{moleculer.Seed(), gomicro.Seed(), mion.Seed(), ergo.Seed(), hsf.Seed()}
}
