package httpstrict

import (
	"errors"
	"net"
	"os"
	"time"
)

// LingerTime bounds the time for which the other end may still send behind the last answer. What it sends is not counted: a client that sends a file of
// 50 MB before it reads has sent it by then, on a fast network, and reads the answer.
const LingerTime = 2 * time.Second

// lingerPart is the longest wait that counts as one: where the whole program stands still for longer, what came meanwhile is read.
const lingerPart = LingerTime / 8

// Linger signals that the last answer is sent, and reads on until the other end closes, or LingerTime is over. A connection that is closed
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
	for waited := time.Duration(0); waited < LingerTime; {
		began := time.Now()
		if err := c.SetReadDeadline(began.Add(lingerPart)); err != nil {
			return nil
		}
		if _, err := c.Read(buffer); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		waited += min(time.Since(began), lingerPart)
	}
	return nil
}
