package config

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// LoadOrExit is [Load] for the main function of a program. For --help it writes the flags to standard output and ends the program with status
// 0. Where the settings are wrong it writes what is wrong to standard error and ends it with status 2, as package flag does.
func LoadOrExit(c Config) *Loaded {
	l, err := Load(c)
	if err != nil {
		os.Exit(report(err, os.Stdout, os.Stderr))
	}
	return l
}

// report writes an error of Load for people, and returns the status of a program that ends for it.
func report(err error, out, errOut io.Writer) (status int) {
	if asked, is := errors.AsType[help](err); is {
		fmt.Fprint(out, asked)
		return 0
	}
	fmt.Fprintln(errOut, err)
	fmt.Fprintln(errOut, "--help lists the settings")
	return 2
}
