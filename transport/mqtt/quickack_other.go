//go:build !linux

package mqtt

import "net"

// promptly is for systems that delay acknowledgements; here nothing can be done about them.
func promptly(socket *net.TCPConn) net.Conn { return socket }
