package amqp

import (
	"math"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

func TestAttemptsThatNobodyCountedAreNotBelieved(t *testing.T) {
	for _, c := range []struct {
		headers amqp091.Table
		want    int
	}{
		{nil, 1},
		{amqp091.Table{attemptHeader: int64(2), "x-delivery-count": int64(1)}, 4},
		{amqp091.Table{attemptHeader: int64(-7)}, 1},
		{amqp091.Table{attemptHeader: int32(math.MinInt32), "x-delivery-count": int64(math.MinInt64)}, 1},
		{amqp091.Table{attemptHeader: int64(math.MaxInt64), "x-delivery-count": int64(math.MaxInt64)}, 1 + 2*mostAttempts},
		{amqp091.Table{attemptHeader: "3"}, 1},
	} {
		if got := new(group).delivery(amqp091.Delivery{Headers: c.headers}).Attempt; got != c.want {
			t.Errorf("%v: attempt %d, want %d", c.headers, got, c.want)
		}
	}
}
