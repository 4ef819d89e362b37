package wire

import (
	"testing"
	"time"
)

func TestARequestIsNotServedOnceItsCallerHasGoneOrHalfOfItsTimeoutIsOver(t *testing.T) {
	l := &Link{started: time.Now().Add(-time.Hour)}
	for _, tt := range []struct {
		name      string
		timeout   time.Duration
		waited    time.Duration
		cancelled bool
		want      string // of a failure; "" where it is served
	}{
		{"it has just come", time.Minute, 0, false, ""},
		{"it waited for less", time.Minute, 29 * time.Second, false, ""},
		{"it waited for more", time.Minute, 31 * time.Second, false, NameTooManyCalls},
		{"its time is over", time.Minute, 2 * time.Minute, false, NameTooManyCalls},
		{"it has no timeout", 0, time.Hour, false, ""},
		{"it was cancelled", 0, 0, true, NameCanceled},
		{"it was cancelled and waited", time.Minute, time.Hour, true, NameCanceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := &Inbound{link: l, Route: &Route{Name: "work"}, Meta: Meta{Timeout: tt.timeout}, arrived: l.now() - int64(tt.waited), listed: true, cancelled: tt.cancelled}
			got := ""
			if f := in.tooLate(); f != nil {
				got = f.Name
				if f.Retryable != (f.Name == NameTooManyCalls) {
					t.Errorf("%v: retryable is %v", f, f.Retryable)
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
