//go:build unix

package config

import (
	"os"
	"os/signal"
	"syscall"
)

func notify(c chan os.Signal) { signal.Notify(c, syscall.SIGHUP) }
func ignore(c chan os.Signal) { signal.Stop(c) }
