//go:build !unix

package config_test

import "testing"

func hangUp(t *testing.T) { t.Skip("this system has no SIGHUP") }
