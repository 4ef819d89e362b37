package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/cmd/sabir/scaffold"
	"github.com/sabir-go/sabir/internal/moduleversion"
)

// versionInfo is the information on the build and the system that a bug report needs.
type versionInfo struct {
	Version  string `json:"version"` // of the module that was downloaded, else moduleversion.Current
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the checkout had changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func (c *cli) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version [flags]",
		GroupID: groupMake,
		Short:   "Print the version of this program",
		Long:    `Prints the version of this program and of the Go that built it. Put it into bug reports.`,
		Example: `  sabir version
  sabir version --json`,
		Args: takes(0, 0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			v := version()
			if c.json {
				writeJSON(c.stdout, v)
				return nil
			}
			fmt.Fprintf(c.stdout, "sabir %s\n", v)
			return nil
		},
	}
}

func (v versionInfo) String() string {
	return fmt.Sprintf("%s (%s, %s/%s)", v.Version, v.Go, v.OS, v.Arch)
}

func version() versionInfo {
	v := versionInfo{Version: moduleversion.Current, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if m := scaffold.ModuleIn(info); m.Sum != "" { // only what was downloaded has a checksum
		v.Version = m.Version
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			v.Revision = setting.Value
		case "vcs.modified":
			v.Modified = setting.Value == "true"
		}
	}
	return v
}
