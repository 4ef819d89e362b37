package policy

import (
	"time"

	"github.com/sabir-go/sabir"
)

// RetryAfter is the data of errors that know when trying again makes sense: sabir.ErrBreakerOpen and
// sabir.ErrRateLimited. Read it with sabir.DataAs; [Retry] does.
type RetryAfter struct {
	Seconds float64 `json:"retryAfter"`
}

func retryAfter(d time.Duration) RetryAfter { return RetryAfter{max(d, 0).Seconds()} }

// retryDelay returns how long the error asks to wait; 0 if it names no time.
func retryDelay(e *sabir.Error) time.Duration {
	if e.Data == nil {
		return 0
	}
	after, err := sabir.DataAs[RetryAfter](e)
	if err != nil || !(after.Seconds > 0) {
		return 0
	}
	const most = 24 * time.Hour // and no overflow, whatever another node sends
	return time.Duration(min(after.Seconds, most.Seconds()) * float64(time.Second))
}
