package grainstore

import (
	"fmt"
	"strings"
)

// Limits of names, in bytes.
const (
	MaxKind = 128
	MaxKey  = 1024
)

// CheckName returns, as an error that is [ErrBadGrainName], what is wrong with the name of a grain, if anything is. A kind is
// words of a-z, 0-9 and '-', joined by dots, up to MaxKind bytes. A key is any bytes, one at least and up to MaxKey.
func CheckName(kind, key string) error {
	switch {
	case kind == "":
		return fmt.Errorf("%w: the kind is empty", ErrBadGrainName)
	case len(kind) > MaxKind:
		return fmt.Errorf("%w: the kind has %d bytes; the limit is %d", ErrBadGrainName, len(kind), MaxKind)
	case key == "":
		return fmt.Errorf("%w: the key of a grain of kind %.*q is empty: all callers without a key would share one grain", ErrBadGrainName, MaxKind, kind)
	case len(key) > MaxKey:
		return fmt.Errorf("%w: the key of a grain of kind %.*q has %d bytes; the limit is %d", ErrBadGrainName, MaxKind, kind, len(key), MaxKey)
	}
	for i := range len(kind) {
		if c := kind[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return fmt.Errorf("%w: the kind %q has %q in it; want a-z, 0-9, '-' and '.'", ErrBadGrainName, kind, c)
		}
	}
	if kind[0] == '.' || kind[len(kind)-1] == '.' || strings.Contains(kind, "..") {
		return fmt.Errorf("%w: the kind %q has a dot without a word on each side", ErrBadGrainName, kind)
	}
	return nil
}
