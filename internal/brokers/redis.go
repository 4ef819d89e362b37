package brokers

import (
	"bufio"
	"fmt"
	"strings"
)

func startRedis(s *Server) error {
	c := s.config
	var text strings.Builder
	fmt.Fprintf(&text, "bind 127.0.0.1\ndaemonize no\ndir %q\nsave \"\"\nappendonly yes\n", c.Dir)
	sync := "everysec"
	if c.Sync {
		sync = "always"
	}
	fmt.Fprintf(&text, "appendfsync %s\n", sync)
	switch {
	case c.User != "":
		fmt.Fprintf(&text, "user default off\nuser %s on \">%s\" ~* &* +@all\n", c.User, c.Password)
	case c.Password != "":
		fmt.Fprintf(&text, "requirepass %q\n", c.Password)
	}
	if c.secure() {
		fmt.Fprintf(&text, "port 0\ntls-port %d\ntls-cert-file %q\ntls-key-file %q\n", s.port, c.Cert, c.Key)
		if c.CA != "" {
			fmt.Fprintf(&text, "tls-auth-clients yes\ntls-ca-cert-file %q\n", c.CA)
		} else {
			fmt.Fprintf(&text, "tls-auth-clients no\n")
		}
	} else {
		fmt.Fprintf(&text, "port %d\n", s.port)
	}
	path, err := s.write("redis.conf", text.String()+c.Extra+"\n")
	if err != nil {
		return err
	}
	s.main, err = launch(s.command(s.program, path), s.Log())
	return err
}

// redisAnswers waits until PING is answered. That a password is wanted is an answer too.
func redisAnswers(s *Server) error {
	conn, err := dial(s)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(line, "+PONG") && !strings.HasPrefix(line, "-NOAUTH") {
		return fmt.Errorf("it answered %q to PING", line)
	}
	return nil
}
