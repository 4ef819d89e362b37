package outlier

import (
	"cmp"
	"time"
)

// Settings says when a node is left out. The zero value of each field stands for its default.
type Settings struct {
	Off bool // nothing is counted, and no node is left out

	Failures   int           // one after the other that make a node sick. 5
	Gap        float64       // by which its share of failures is higher than that of the others. 0.2
	SlowFactor float64       // times that its median is that of the others. 5; negative for no comparison
	SlowBy     time.Duration // by which its median is longer besides. 100 ms
	Base       time.Duration // of the first time out; the n-th is n times as long. 2 s
	Max        time.Duration // of each. 60 s
	MaxShare   float64       // of the nodes that may be left out at once. 0.5
}

// Defaults is the settings with defaults in place of zeros.
func (s Settings) Defaults() Settings {
	s.Failures = cmp.Or(s.Failures, 5)
	s.Gap = cmp.Or(s.Gap, 0.2)
	s.SlowFactor = cmp.Or(s.SlowFactor, 5)
	s.SlowBy = cmp.Or(s.SlowBy, 100*time.Millisecond)
	s.Base = cmp.Or(s.Base, 2*time.Second)
	s.Max = cmp.Or(s.Max, 60*time.Second)
	s.MaxShare = cmp.Or(s.MaxShare, 0.5)
	return s
}
