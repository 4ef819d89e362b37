package replication

import (
	"fmt"

	"github.com/sabir-go/sabir/internal/address"
)

// Auto is the number of replicas of the zero-configuration [Setting]: all that the server has, see the package's description.
const Auto = -1

// maxReplicas is above any realistic number; a larger number in an address is a mistake.
const maxReplicas = 100

// Setting defines when a write counts as done.
type Setting struct {
	// Replicas is the number of replicas that must have the write, beside the primary. 0 does not wait for any.
	Replicas int
	// Fsync wants the write in the append-only files of the primary and of the replicas too (WAITAOF, of Redis 7.2).
	Fsync bool
}

// Default is the Setting where no other is given.
var Default = Setting{Replicas: Auto}

// Check returns why a setting is invalid.
func (s Setting) Check() error {
	switch {
	case s.Replicas < Auto || s.Replicas > maxReplicas:
		return fmt.Errorf("replicas=%d: want 0 to %d, or auto", s.Replicas, maxReplicas)
	case s.Fsync && s.Replicas == 0:
		return fmt.Errorf("fsync=true with replicas=0: it says what replicas do")
	}
	return nil
}

// Read takes the parameters replicas ("auto" or a number) and fsync of an address. Without them the setting is [Default].
func Read(parameters *address.Parameters) Setting {
	return Setting{
		Replicas: parameters.Number("replicas", "auto", Auto, 0, maxReplicas),
		Fsync:    parameters.Bool("fsync"),
	}
}
