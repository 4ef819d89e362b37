package bench

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Machine describes the machine on which figures were measured.
type Machine struct {
	System    string            `json:"system"` // "linux/amd64 6.1.0"
	Processor string            `json:"processor"`
	Cores     int               `json:"cores"`
	Memory    string            `json:"memory"`   // "24 GB"; "" where it is not known
	Programs  map[string]string `json:"programs"` // versions of Go, Node and Java, of those that are here
}

// String is the machine in a line.
func (m Machine) String() string {
	text := fmt.Sprintf("%s, %d cores", m.Processor, m.Cores)
	if m.Memory != "" {
		text += ", " + m.Memory
	}
	return text + ", " + m.System
}

// ThisMachine looks at the machine that this runs on.
func ThisMachine() Machine {
	m := Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Processor: "unknown processor", Cores: runtime.NumCPU(),
		Programs: map[string]string{"Go": strings.TrimPrefix(runtime.Version(), "go")}}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(release))
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if name := fieldOf(string(text), "model name"); name != "" {
			m.Processor = name
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kilobytes float64
		if _, err := fmt.Sscanf(fieldOf(string(text), "MemTotal"), "%f kB", &kilobytes); err == nil {
			m.Memory = fmt.Sprintf("%.0f GB", kilobytes/(1<<20))
		}
	}
	if text, err := exec.Command("node", "--version").Output(); err == nil {
		m.Programs["Node"] = strings.TrimPrefix(strings.TrimSpace(string(text)), "v")
	}
	if text, err := exec.Command("java", "-version").CombinedOutput(); err == nil {
		if _, rest, found := strings.Cut(string(text), `version "`); found {
			m.Programs["Java"], _, _ = strings.Cut(rest, `"`)
		}
	}
	return m
}

func fieldOf(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
