// Package level has the level by which package app leaves the level of a log to the system's logger.
package level

import (
	"log/slog"
	"math"
)

// System, as the level of a process, stands for that of the system's logger.
const System slog.Level = math.MinInt32
