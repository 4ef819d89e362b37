package identity

import (
	"crypto/x509"
	"runtime"
	"sync"
	"weak"
)

// verified has the certificates that Verified was told of, each for as long as it is in use.
var verified sync.Map // by weak.Pointer[x509.Certificate]

// Verified notes that the certificate of a connection was found to be of an authority, by a configuration of TLS that looks itself: Go's TLS
// then keeps no chain, from which links would know whose names are proven. That the other side has the certificate's key is proven in each handshake.
func Verified(certificate *x509.Certificate) {
	key := weak.Make(certificate)
	if _, known := verified.LoadOrStore(key, true); !known {
		runtime.AddCleanup(certificate, func(key weak.Pointer[x509.Certificate]) { verified.Delete(key) }, key)
	}
}

// IsVerified reports whether Verified was told of the certificate.
func IsVerified(certificate *x509.Certificate) bool {
	_, is := verified.Load(weak.Make(certificate))
	return is
}
