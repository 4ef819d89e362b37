package isolation_test

import "slices"

// table returns all entry points. Each file of this package has those of one part of Sabir.
func table() []entryPoint {
	return slices.Concat(localEntryPoints, linkEntryPoints(), actorEntryPoints, grainEntryPoints, channelEntryPoints, httpEntryPoints, clientEntryPoints, sessionEntryPoints)
}
