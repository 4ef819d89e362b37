package brokers

import (
	"bufio"
	"fmt"
	"strings"
	"sync"
)

const (
	ownModule  = "github.com/sabir-go/sabir"
	natsModule = "github.com/nats-io/nats-server/v2"
)

// natsProgram builds nats-server in the version that this module's go.mod names, also where the tests are another
// module's. It is kept in the user's cache folder under that version.
var natsProgram = sync.OnceValues(func() (string, error) {
	dir, err := goCommand("", "list", "-m", "-f", "{{.Dir}}", ownModule)
	if err != nil {
		return "", err
	}
	version, err := goCommand(dir, "list", "-m", "-f", "{{.Version}}", natsModule)
	if err != nil {
		return "", err
	}
	return built("nats-server-"+version, func(_, program string) error {
		_, err := goCommand(dir, "build", "-o", program, natsModule)
		return err
	})
})

func startNATS(s *Server) error {
	c := s.config
	var text strings.Builder
	fmt.Fprintf(&text, "host: 127.0.0.1\nport: %d\n", s.port)
	fmt.Fprintf(&text, "jetstream {\n  store_dir: %q\n", s.file("jetstream"))
	if c.Sync {
		text.WriteString("  sync_interval: always\n")
	}
	text.WriteString("}\n")
	if c.Password != "" {
		fmt.Fprintf(&text, "authorization {\n  user: %q\n  password: %q\n}\n", c.User, c.Password)
	}
	if c.secure() {
		fmt.Fprintf(&text, "tls {\n  cert_file: %q\n  key_file: %q\n", c.Cert, c.Key)
		if c.CA != "" {
			fmt.Fprintf(&text, "  ca_file: %q\n  verify: true\n", c.CA)
		}
		text.WriteString("}\n")
	}
	path, err := s.write("nats.conf", text.String()+c.Extra+"\n")
	if err != nil {
		return err
	}
	s.main, err = launch(s.command(s.program, "-c", path), s.Log())
	return err
}

// natsAnswers waits for INFO, which the server sends first, in the clear even with TLS.
func natsAnswers(s *Server) error {
	conn, err := dialPlain(s)
	if err != nil {
		return err
	}
	defer conn.Close()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(line, "INFO ") {
		return fmt.Errorf("it said %q, which is not INFO", line)
	}
	return nil
}
