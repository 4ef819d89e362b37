package brokers

import (
	"crypto/tls"
	"net"
	"time"
)

// answerLimit is the time that one try for an answer may take: a broker under start may accept and send nothing.
const answerLimit = 2 * time.Second

func dialPlain(s *Server) (net.Conn, error) {
	conn, err := net.DialTimeout("tcp4", s.Addr(), answerLimit)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(answerLimit))
	return conn, nil
}

func dial(s *Server) (net.Conn, error) {
	conn, err := dialPlain(s)
	if err != nil || !s.config.secure() {
		return conn, err
	}
	own, err := tls.LoadX509KeyPair(s.config.Cert, s.config.Key)
	if err != nil {
		conn.Close()
		return nil, err
	}
	// Whose certificate it is does not matter: no secret is sent to the server, and no answer is trusted.
	return tls.Client(conn, &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{own}}), nil
}
