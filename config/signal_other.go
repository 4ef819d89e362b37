//go:build !unix

package config

import "os"

// There is no SIGHUP: Reload is called by the program.
func notify(chan os.Signal) {}
func ignore(chan os.Signal) {}
