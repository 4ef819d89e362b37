//go:build !linux

package mqtt

import "net"

// promptly returns the socket as it is: this system has no means against delayed acknowledgements.
func promptly(socket *net.TCPConn) net.Conn { return socket }
