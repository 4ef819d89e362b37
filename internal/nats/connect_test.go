package nats

import (
	"bytes"
	"testing"

	"github.com/sabir-go/sabir/secret"
)

func TestASecretGivesOneKeyAndOnePassword(t *testing.T) {
	derive := func(text string) (public, password string) {
		t.Helper()
		pair, err := clientKey(secret.New(text))
		if err != nil {
			t.Fatal(err)
		}
		if public, err = pair.PublicKey(); err != nil {
			t.Fatal(err)
		}
		if password, err = routePassword(secret.New(text)); err != nil {
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
