//go:build !unix

package brokers

import (
	"errors"
	"os/exec"
	"syscall"
)

var errUnix = errors.New("package brokers is for Unix systems")

type process struct{ ended chan struct{} }

func launch(*exec.Cmd, string) (*process, error) { return nil, errUnix }

func (*process) pid() int                 { return 0 }
func (*process) end(syscall.Signal) error { return errUnix }
func (*process) suspend() error           { return errUnix }
func (*process) resume() error            { return errUnix }
