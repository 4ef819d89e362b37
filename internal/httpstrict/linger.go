package httpstrict

import (
	"errors"
	"net"
	"os"
	"time"
)

// The bounds of what the other end may still send behind the last answer, and of the time for which it is waited for.
const (
	LingerBytes = 16 << 20
	LingerTime  = 2 * time.Second
)

// lingerPart is the longest wait that counts as one: where the whole program stands still for longer, what came meanwhile is read.
const lingerPart = LingerTime / 8

// Linger signals that the last answer is sent, and reads on until the other end closes, within the bounds. A connection that is closed
// with unread bytes is reset, which takes the answer away from a client that has not read it yet (RFC 9112, section 9.6). The caller
// closes the connection.
func Linger(c net.Conn) error {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return nil
	}
	if err := half.CloseWrite(); err != nil {
		return err
	}
	buffer := make([]byte, 16<<10)
	for left, waited := LingerBytes, time.Duration(0); left > 0 && waited < LingerTime; {
		began := time.Now()
		if err := c.SetReadDeadline(began.Add(lingerPart)); err != nil {
			return nil
		}
		n, err := c.Read(buffer)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		left -= n
		waited += min(time.Since(began), lingerPart)
	}
	return nil
}
