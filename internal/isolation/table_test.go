package isolation_test

import "slices"

// table is all entry points. Each file of this package gives those of one part of Sabir.
func table() []entryPoint {
	return slices.Concat(localEntryPoints, linkEntryPoints(), actorEntryPoints, grainEntryPoints, channelEntryPoints, httpEntryPoints, clientEntryPoints, sessionEntryPoints)
}
