// Package busypoll reads what is about to come without sleeping for it. A goroutine that waits for a connection is parked, and where a machine is
// otherwise idle its processor sleeps too: to wake both takes longer than the way to another process on the machine and back. So a [Reader] asks the
// connection again and again for some microseconds before it waits, as long as that pays: where what it waits for comes later than that, it asks ever
// more seldom.
//
//	answers := busypoll.NewReader(conn)
//	n, err := answers.Read(buf)
package busypoll

import "time"

const (
	// limit bounds how long a read polls: about what it takes to park a goroutine, have its processor sleep, and wake both again.
	limit = 50 * time.Microsecond
	// maxSkip bounds the reads that do not poll after some that did in vain: so polling in vain takes at most limit for each 256 reads.
	maxSkip = 256
)

// pace decides which reads poll.
type pace struct {
	skip   int // reads that are not to poll
	missed int // how often polling was in vain since it last was not
}

// polls reports whether the next read is to poll.
func (p *pace) polls() bool {
	if p.skip == 0 {
		return true
	}
	p.skip--
	return false
}

func (p *pace) hit() { p.missed = 0 }

func (p *pace) miss() {
	p.skip = min(1<<p.missed, maxSkip)
	if p.skip < maxSkip {
		p.missed++
	}
}
