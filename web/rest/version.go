package rest

import (
	"context"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/etag"
)

// maxVersion bounds the bytes of a version.
const maxVersion = 128

// SetVersion says which version of a thing the output is: a number of a row, a hash, a time. Over HTTP it is the ETag of the answer, in
// quotes, and a GET or HEAD whose If-None-Match names it is answered with 304 and no body. A version has 1 to 128 visible characters of
// ASCII without quotes; for others it returns an error. The same version must mean the same output.
func SetVersion(ctx context.Context, version string) error {
	tag, err := tagOf(version)
	if err != nil {
		return err
	}
	return sabir.Answer(ctx).SetHeader("ETag", tag)
}

// CheckVersion returns [ErrVersionMismatch], 412 over HTTP, if the call was made for another version than current, by If-Match, or for none
// of those that If-None-Match names. current is "" where the thing does not exist. Call it before a change, in the transaction that makes
// it. A call without these headers
// passes: give the input a field with the tags header:"If-Match" and validate:"required" where that is not enough. Weak tags (W/"…") match no If-Match.
func CheckVersion(ctx context.Context, current string) error {
	metadata := outside(ctx)
	match, none := metadata[ifMatch], metadata[ifNoneMatch]
	if match == "" && none == "" {
		return nil
	}
	tag := ""
	if current != "" {
		var err error
		if tag, err = tagOf(current); err != nil {
			return err
		}
	}
	if match != "" && !etag.Matches(match, tag, true) || none != "" && etag.Matches(none, tag, false) {
		return ErrVersionMismatch
	}
	return nil
}

// tagOf is the entity tag of a version.
func tagOf(version string) (string, error) {
	fits := version != "" && len(version) <= maxVersion
	for i := range len(version) {
		fits = fits && version[i] > ' ' && version[i] < 0x7f && version[i] != '"'
	}
	if !fits {
		return "", sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "%.40q is no version: want 1 to %d visible characters of ASCII without quotes", version, maxVersion)
	}
	return `"` + version + `"`, nil
}
