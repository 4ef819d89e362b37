// Package utp is the transport utp://host:port: uTP (BEP 29), the protocol of BitTorrent over UDP, by
// github.com/anacrolix/utp in pure Go. Importing it registers it.
//
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join("utp://:7700"))
//
// It is for networks that let uTP through and no other protocol. It does not encrypt: a TLS configuration is refused.
//
// Package session adds back pressure and an orderly end, and the socket under the library is this package's, because of
// what the library does by itself: it abandons a connection whose reader pauses for 15 seconds or which is silent for two
// minutes, may lose what was written last, writes errors of the socket to the standard logger, never learns that no listener is
// there, and panics where a socket both dials and accepts. This package works around all of these. It sends
// something after 30 seconds of silence at the latest, even if Config.KeepAlive is never.
//
// What stays: one mutex for all connections of the process, so more of them, or more processors, do not make it faster,
// and no congestion control that yields to other traffic, for which uTP was made.
package utp
