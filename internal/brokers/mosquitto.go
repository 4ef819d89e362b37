package brokers

import (
	"fmt"
	"io"
	"os/exec"
	"os/user"
	"strings"
)

func startMosquitto(s *Server) error {
	c := s.config
	owner, err := user.Current()
	if err != nil {
		return err
	}
	var text strings.Builder
	// As root it would become another user, which cannot write to the folder.
	fmt.Fprintf(&text, "user %s\nlistener %d 127.0.0.1\n", owner.Username, s.port)
	if c.secure() {
		fmt.Fprintf(&text, "certfile %s\nkeyfile %s\n", c.Cert, c.Key)
		if c.CA != "" {
			fmt.Fprintf(&text, "cafile %s\nrequire_certificate true\n", c.CA)
		}
	}
	fmt.Fprintf(&text, "persistence true\npersistence_location %s/\n", c.Dir)
	if c.Sync {
		text.WriteString("autosave_interval 1\n")
	}
	if c.Password != "" {
		passwords := s.file("passwords")
		if output, err := exec.Command("mosquitto_passwd", "-c", "-b", passwords, c.User, c.Password).CombinedOutput(); err != nil {
			return fmt.Errorf("mosquitto_passwd: %w\n%s", err, output)
		}
		fmt.Fprintf(&text, "allow_anonymous false\npassword_file %s\n", passwords)
	} else {
		text.WriteString("allow_anonymous true\n")
	}
	path, err := s.write("mosquitto.conf", text.String()+c.Extra+"\n")
	if err != nil {
		return err
	}
	s.main, err = launch(s.command(s.program, "-c", path), s.Log())
	return err
}

// mosquittoAnswers waits for the answer to CONNECT (MQTT 3.1.1, sections 3.1 and 3.2). That a password is wanted is an
// answer too.
func mosquittoAnswers(s *Server) error {
	conn, err := dial(s)
	if err != nil {
		return err
	}
	defer conn.Close()
	connect := []byte{0x10, 13, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 60, 0, 1, 'p'}
	if _, err := conn.Write(connect); err != nil {
		return err
	}
	answer := make([]byte, 4)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return err
	}
	if answer[0] != 0x20 {
		return fmt.Errorf("it answered % x to CONNECT", answer)
	}
	return nil
}
