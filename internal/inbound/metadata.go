package inbound

import (
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/identity"
)

// What a foreign node may send as metadata with one call.
const (
	MaxMetadata      = 64       // members
	MaxMetadataBytes = 32 << 10 // of names and values
)

// CheckMetadata returns the error of a call that brings more metadata than there may be: so many members, of so many bytes.
func CheckMetadata(members, size int) error {
	if members <= MaxMetadata && size <= MaxMetadataBytes {
		return nil
	}
	return sabir.Errorf(sabir.CodeResourceExhausted, errname.HeadTooLarge, "the metadata has %d members with %d bytes: %d with %d are the limit", members, size, MaxMetadata, MaxMetadataBytes)
}

// Reserved reports whether only nodes of the cluster may set the key of metadata.
func Reserved(key string) bool {
	return key == identity.PrincipalKey || key == admission.MetadataKey || strings.HasPrefix(key, "$")
}
