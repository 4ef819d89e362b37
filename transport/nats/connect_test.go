package nats

import (
	"bytes"
	"math"
	"testing"
	"time"
)

func TestAttemptsToConnectComeAtOnceAndThenFromEvery50msToEverySecond(t *testing.T) {
	if got := pause(1); got != 0 {
		t.Errorf("the first attempt waits for %v", got)
	}
	for round, limit := range map[int]time.Duration{2: 50, 3: 100, 4: 200, 6: 800, 7: 1000, 100: 1000, math.MaxInt: 1000} {
		limit *= time.Millisecond
		for range 100 {
			if got := pause(round); got < limit/2 || got >= limit {
				t.Fatalf("round %d waits for %v, want %v to %v", round, got, limit/2, limit)
			}
		}
	}
}

func TestASecretGivesOneKeyAndOnePassword(t *testing.T) {
	derive := func(secret string) (public, password string) {
		t.Helper()
		pair, err := clientKey([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		if public, err = pair.PublicKey(); err != nil {
			t.Fatal(err)
		}
		if password, err = routePassword([]byte(secret)); err != nil {
			t.Fatal(err)
		}
		if seed, err := pair.Seed(); err != nil || bytes.Contains(seed, []byte(password)) {
			t.Fatalf("the password is part of the seed, %v", err)
		}
		return public, password
	}
	public, password := derive("one")
	if again, same := derive("one"); again != public || same != password {
		t.Error("the same secret gives another key or password")
	}
	if other, another := derive("two"); other == public || another == password {
		t.Error("another secret gives the same key or password")
	}
	// Processes of different versions must understand each other.
	if want := "UCHD5ITSLOCPM5PTXY6LO35BKJTKP4AHRDXH2NZCRYDDJDVAPHZ7Q6HO"; public != want {
		if second, _ := derive("two"); second != want {
			t.Errorf("the keys are %s and %s, want %s as one of them", public, second, want)
		}
	}
}
