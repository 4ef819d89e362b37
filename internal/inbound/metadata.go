package inbound

import (
	"strings"

	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/identity"
)

// What a foreign node may send as metadata with one call.
const (
	MaxMetadata      = 64       // members
	MaxMetadataBytes = 32 << 10 // of names and values
)

// Reserved reports whether only nodes of the cluster may set the key of metadata.
func Reserved(key string) bool {
	return key == identity.PrincipalKey || key == admission.MetadataKey || strings.HasPrefix(key, "$")
}
