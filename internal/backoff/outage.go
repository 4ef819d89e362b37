package backoff

import "time"

// Outage says when attempts that go on failing are worth a line of the log: after two seconds, since most outages are shorter, and then once a minute.
type Outage struct{ next time.Time }

const (
	logAfter = 2 * time.Second
	logEvery = time.Minute
)

// NewOutage is an outage that begins now.
func NewOutage() Outage { return Outage{time.Now().Add(logAfter)} }

// Due reports whether a line is due, and counts it as written.
func (o *Outage) Due(now time.Time) bool {
	if now.Before(o.next) {
		return false
	}
	o.next = now.Add(logEvery)
	return true
}

// Reasons says which of many failures of one thing are worth a line of the log: the first, and then those with another reason than the line before, after
// two seconds and once a minute at most. The first failure is often that a connection ended, and those behind it say why there is no other.
type Reasons struct {
	logged string // "" while nothing fails
	outage Outage
}

// Due reports whether a line is due for a failure, and counts it as written.
func (r *Reasons) Due(err error) bool {
	reason := err.Error()
	switch {
	case r.logged == "":
		r.outage = NewOutage()
	case reason == r.logged || !r.outage.Due(time.Now()):
		return false
	}
	r.logged = reason
	return true
}

// End reports whether there was a failure, which is over.
func (r *Reasons) End() bool {
	failed := r.logged != ""
	*r = Reasons{}
	return failed
}
