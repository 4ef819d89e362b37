package backoff

import "time"

// Outage says when attempts that go on failing are worth a line of the log: after two seconds, since most outages are shorter, and then once a minute.
type Outage struct{ next time.Time }

const (
	tellAfter = 2 * time.Second
	tellEvery = time.Minute
)

// NewOutage is an outage that begins now.
func NewOutage() Outage { return Outage{time.Now().Add(tellAfter)} }

// Due reports whether a line is due, and counts it as written.
func (o *Outage) Due(now time.Time) bool {
	if now.Before(o.next) {
		return false
	}
	o.next = now.Add(tellEvery)
	return true
}
