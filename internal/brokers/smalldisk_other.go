//go:build !linux

package brokers

import (
	"errors"
	"testing"
)

func left(testing.TB, string) int { return 0 }

func mountMemory(testing.TB, string, int) error { return errors.ErrUnsupported }
