package budget_test

import (
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/budget"
)

// withdrawals is how many further attempts there are at once.
func withdrawals(b *budget.Budget, share float64, perSecond int) (n int) {
	for n < 100_000 && b.Withdraw(share, perSecond) {
		n++
	}
	return n
}

func deposit(b *budget.Budget, calls int) {
	b.Deposit(calls)
}

func TestAFifthOfTheCallsAndTenASecondMayBeRetried(t *testing.T) {
	for _, test := range []struct {
		name      string
		calls     int
		share     float64
		perSecond int
		want      int
	}{
		{"without a call there are those a second", 0, budget.Share, budget.PerSecond, 100},
		{"calls add their share", 1000, budget.Share, budget.PerSecond, 300},
		{"without a reserve there is the share alone", 1000, 0.1, 0, 100},
		{"no share and no reserve are nothing", 1000, 0, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				b := budget.New()
				deposit(b, test.calls)
				if n := withdrawals(b, test.share, test.perSecond); n != test.want {
					t.Errorf("%d further attempts, want %d", n, test.want)
				}
			})
		})
	}
}

func TestCallsAndWithdrawalsOfTenSecondsCount(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b := budget.New()
		deposit(b, 1000)
		if n := withdrawals(b, 0.2, 0); n != 200 {
			t.Fatalf("%d further attempts, want 200", n)
		}
		time.Sleep(5 * time.Second)
		if n := withdrawals(b, 0.2, 0); n != 0 {
			t.Errorf("%d further attempts while the first ones count, want none", n)
		}
		deposit(b, 600) // they count as if they had come evenly in these 5 s
		time.Sleep(6 * time.Second)
		if n := withdrawals(b, 0.2, 0); n < 100 || n > 120 {
			t.Errorf("%d further attempts of 600 calls, when the first ones count no more, want about 120", n)
		}
	})
}

func TestCallsOfLongAgoEarnNothing(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b := budget.New()
		deposit(b, 1_000_000)
		time.Sleep(1000 * time.Second)
		if n := withdrawals(b, 0.2, 0); n < 1900 || n > 2000 { // those of 10 of 1000 seconds
			t.Errorf("%d further attempts of 1,000 calls a second, want about 2,000", n)
		}
	})
}

func TestWhatIsSpentWithoutAskingCounts(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b := budget.New()
		for range 150 {
			b.Spend()
		}
		if b.Withdraw(budget.Share, budget.PerSecond) {
			t.Error("there is a further attempt after 150 without calls")
		}
	})
}

func BenchmarkDeposit(b *testing.B) {
	of := budget.New()
	b.ReportAllocs()
	for b.Loop() {
		of.Deposit(1)
	}
}
