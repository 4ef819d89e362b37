package channels

import (
	"math"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

func TestAttemptsThatNobodyCountedAreNotBelieved(t *testing.T) {
	for _, c := range []struct {
		headers amqp091.Table
		attempt int
		lost    int
	}{
		{nil, 1, 0},
		{amqp091.Table{attemptHeader: int64(2), "x-delivery-count": int64(1)}, 3, 1},
		{amqp091.Table{attemptHeader: int64(-7)}, 1, 0},
		{amqp091.Table{attemptHeader: int32(math.MinInt32), "x-delivery-count": int64(math.MinInt64)}, 1, 0},
		{amqp091.Table{attemptHeader: int64(math.MaxInt64), "x-delivery-count": int64(math.MaxInt64)}, 1 + mostAttempts, mostAttempts},
		{amqp091.Table{attemptHeader: "3"}, 1, 0},
	} {
		got := new(group).delivery(amqp091.Delivery{Headers: c.headers})
		if got.Attempt != c.attempt || got.Lost != c.lost {
			t.Errorf("%v: attempt %d, %d lost, want attempt %d, %d lost", c.headers, got.Attempt, got.Lost, c.attempt, c.lost)
		}
	}
}
