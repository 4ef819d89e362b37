package brokers

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// consulModules builds Consul as Debian's bullseye had it. Those that it was released
// with are replaced where they do not build with this Go.
const consulModules = `module build

go 1.26

require (
	github.com/hashicorp/consul v1.9.17
	github.com/hashicorp/consul/api v1.13.1
	github.com/hashicorp/consul/sdk v0.10.0
	golang.org/x/net v0.38.0
)
`

// consulProgram is the agent that is installed, or else one that is built from the module proxy. That takes minutes, so the quick loop does without.
var consulProgram = sync.OnceValues(func() (string, error) {
	const name = "consul-1.9.17"
	path, err := exec.LookPath("consul")
	if err == nil {
		return path, nil
	}
	if program, there := cached(name); there {
		return program, nil
	}
	if os.Getenv(TestAll) == "" {
		return "", err
	}
	return built(name, func(dir, program string) error {
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(consulModules), 0o600); err != nil {
			return err
		}
		_, err := goCommand(dir, "build", "-mod=mod", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "github.com/hashicorp/consul")
		return err
	})
})
