package brokers

import (
	"fmt"
	"io"
	"os"
	"strings"
)

func startRabbitMQ(s *Server) error {
	c := s.config
	distribution, err := s.otherPort("distribution")
	if err != nil {
		return err
	}
	names, err := s.otherPort("epmd")
	if err != nil {
		return err
	}
	config, err := s.write("rabbitmq.conf", rabbitMQConfig(s)+c.Extra+"\n")
	if err != nil {
		return err
	}
	plugins, err := s.write("enabled_plugins", "[].\n")
	if err != nil {
		return err
	}
	nothing, err := s.write("rabbitmq-env.conf", "")
	if err != nil {
		return err
	}
	environment := append(s.erlang(names),
		fmt.Sprintf("RABBITMQ_DIST_PORT=%d", distribution),
		// After its restart a server may hand a message whose delay is over to a queue that is not there yet. It tries again after
		// three minutes by itself, which is longer than a test waits.
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1} -rabbit dead_letter_worker_publisher_confirm_timeout 5000",
		"RABBITMQ_MNESIA_BASE="+s.file("mnesia"),
		"RABBITMQ_LOG_BASE="+s.file("log"),
		"RABBITMQ_LOGS=-",
		"RABBITMQ_CONFIG_FILE="+config,
		"RABBITMQ_CONF_ENV_FILE="+nothing,
		"RABBITMQ_ENABLED_PLUGINS_FILE="+plugins,
		"RABBITMQ_ALLOW_INPUT=1", // has the script become the server, instead of a parent that outlives it
	)

	// Erlang would leave its name server behind as a daemon: this one is our child, and then it starts none.
	epmd, err := installed("epmd")()
	if err != nil {
		return err
	}
	namer := s.command(epmd)
	namer.Env = environment
	p, err := launch(namer, s.Log())
	if err != nil {
		return err
	}
	s.aides = append(s.aides, p)
	server := s.command(s.program, "-noinput")
	server.Env = environment
	s.main, err = launch(server, s.Log())
	return err
}

// erlang is the environment in which RabbitMQ's programs find each other, by the port of the name server.
func (s *Server) erlang(names int) []string {
	environment := []string{
		"HOME=" + s.config.Dir, // for the cookie
		fmt.Sprintf("ERL_EPMD_PORT=%d", names),
		"ERL_EPMD_ADDRESS=127.0.0.1",
		fmt.Sprintf("RABBITMQ_NODENAME=sabir%d@localhost", s.port),
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if name != "HOME" && !strings.HasPrefix(name, "RABBITMQ_") && !strings.HasPrefix(name, "ERL_") {
			environment = append(environment, variable)
		}
	}
	return environment
}

// RabbitMQControl runs rabbitmqctl for a server of that kind, which takes seconds.
func (s *Server) RabbitMQControl(arguments ...string) error {
	program, err := installed("rabbitmqctl", "/usr/lib/rabbitmq/bin/rabbitmqctl")()
	if err != nil {
		return err
	}
	names, err := s.otherPort("epmd")
	if err != nil {
		return err
	}
	command := s.command(program, arguments...)
	command.Env = s.erlang(names)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("rabbitmqctl %s: %w\n%s", strings.Join(arguments, " "), err, output)
	}
	return nil
}

func rabbitMQConfig(s *Server) string {
	c := s.config
	var text strings.Builder
	if c.secure() {
		fmt.Fprintf(&text, "listeners.tcp = none\nlisteners.ssl.1 = 127.0.0.1:%d\nssl_options.certfile = %s\nssl_options.keyfile = %s\n", s.port, c.Cert, c.Key)
		if c.CA != "" {
			fmt.Fprintf(&text, "ssl_options.cacertfile = %s\nssl_options.verify = verify_peer\nssl_options.fail_if_no_peer_cert = true\n", c.CA)
		}
	} else {
		fmt.Fprintf(&text, "listeners.tcp.1 = 127.0.0.1:%d\n", s.port)
	}
	if c.Password != "" {
		fmt.Fprintf(&text, "default_user = %s\ndefault_pass = %s\n", c.User, c.Password)
	}
	text.WriteString("disk_free_limit.absolute = 1MB\n")
	return text.String()
}

// rabbitMQAnswers waits for Connection.Start, which answers the protocol header (AMQP 0-9-1, sections 2.2.4 and 4.2.2):
// the server listens when the rest of it runs.
func rabbitMQAnswers(s *Server) error {
	conn, err := dial(s)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return err
	}
	answer := make([]byte, 11)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return err
	}
	if answer[0] != 1 || answer[8] != 10 || answer[10] != 10 {
		return fmt.Errorf("it answered % x to the protocol header", answer)
	}
	return nil
}
