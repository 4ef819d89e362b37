//go:build unix

package meta

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command a process group of its own, which all that it starts belongs to.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // ESRCH: there is no process left

func askGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
