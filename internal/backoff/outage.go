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

// Reasons says which of many failures of one thing are worth a line of the log: the first, and then those with another reason than the line before, after
// two seconds and once a minute at most. The first failure is often that a connection ended, and those behind it say why there is no other.
type Reasons struct {
	told   string // "" while nothing fails
	outage Outage
}

// Tell reports whether a line is due for a failure, and counts it as written.
func (r *Reasons) Tell(err error) bool {
	reason := err.Error()
	switch {
	case r.told == "":
		r.outage = NewOutage()
	case reason == r.told || !r.outage.Due(time.Now()):
		return false
	}
	r.told = reason
	return true
}

// End reports whether there was a failure, which is over.
func (r *Reasons) End() bool {
	failed := r.told != ""
	*r = Reasons{}
	return failed
}
