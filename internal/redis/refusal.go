package redis

import (
	"strings"

	"github.com/redis/rueidis"
)

// Refusal is the class of an error that a server answers with.
type Refusal int

const (
	// NoRefusal is an error that is not a server's answer, but the connection's or the context's; or no error.
	NoRefusal Refusal = iota
	// Full means that the server has no memory (maxmemory), or that its disk does not take what it saves. Nothing was done.
	Full
	// NotReady means that the server does nothing of the kind now, and it, or another one, may soon: it is a replica, reads its files,
	// misses its own replicas, runs a long script, or has given the key away. Nothing was done.
	NotReady
	// OtherRefusal is any other error that a server answers with.
	OtherRefusal
)

// RefusalOf is the class of an error of the client. The first word of a server's errors is their code.
func RefusalOf(err error) Refusal {
	said, ok := rueidis.IsRedisErr(err)
	if !ok {
		return NoRefusal
	}
	word, _, _ := strings.Cut(said.Error(), " ")
	switch word {
	case "OOM", "MISCONF":
		return Full
	case "LOADING", "MASTERDOWN", "READONLY", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "NOREPLICAS", "MOVED", "ASK", "UNBLOCKED":
		return NotReady
	}
	return OtherRefusal
}
