package identity

import (
	"crypto/x509"
	"testing"
)

func TestACertificateIsVerifiedOnlyIfSomebodySaidSo(t *testing.T) {
	var one, other x509.Certificate
	Verified(&one)
	Verified(&one)
	if !IsVerified(&one) || IsVerified(&other) {
		t.Errorf("%t %t", IsVerified(&one), IsVerified(&other))
	}
}
