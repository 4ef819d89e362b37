package schemes

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// cutPassword reports whether the host of a URL is a user's name and the beginning of a password, which a slash, a question mark or
// a # has ended: the rest of the password would be shown as a path.
func cutPassword(u *url.URL) bool {
	switch u.Scheme {
	case "unix", "http", "https": // their paths may have any character, and they have no users
		return false
	}
	return (u.User == nil || u.User.String() == "") && strings.Contains(u.EscapedPath()+u.RawQuery+u.EscapedFragment(), "@")
}

// Parse reads an address, which is a URL with a scheme; whether a transport is registered for that does not matter. Its
// errors do not repeat the address where that could hold a password.
func Parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil && strings.Contains(address, "@") || err == nil && cutPassword(u) {
		return nil, errors.New("an address has a user or password with a character that ends it: write / as %2F, ? as %3F, # as %23, @ as %40 and % as %25")
	}
	if err != nil {
		// Its text holds the whole address.
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return nil, fmt.Errorf(`an address is not a URL such as "tcp://:7700" or "unix:///run/shop.sock": %w`, err)
	}
	if u.Scheme == "" {
		return nil, fmt.Errorf(`the address %q has no scheme: want a URL such as "tcp://:7700" or "unix:///run/shop.sock"`, u.Redacted())
	}
	return u, nil
}
