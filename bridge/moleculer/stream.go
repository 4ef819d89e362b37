package moleculer

import (
	"context"

	"github.com/sabir-go/sabir"
)

// noStreams is the error of a stream, which the bridge does not carry.
func noStreams(action string) *sabir.Error {
	return sabir.Errorf(sabir.CodeUnimplemented, "NoStreams", "%s: streams are not carried between Sabir and Moleculer", action)
}

// Open implements sabir.ForeignNode.
func (p *peer) Open(_ context.Context, action *sabir.Action) (sabir.ForeignStream, error) {
	return nil, noStreams(action.Name)
}
