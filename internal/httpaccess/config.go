package httpaccess

import (
	"crypto/tls"

	"github.com/sabir-go/sabir/internal/option"
)

// Config holds the values of sabir.HTTP and its options, for the package that serves it.
type Config struct {
	Addr    string
	Keys    *Keys
	TLS     *tls.Config
	Options []any // of the package that serves it, in the order in which they were given

	Given    option.Given // which options were given, of those that may be given once
	Problems []error      // what is wrong with the options: the node does not start
}

// Problem adds to Problems; nil is none.
func (c *Config) Problem(err error) {
	if err != nil {
		c.Problems = append(c.Problems, err)
	}
}
