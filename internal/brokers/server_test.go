package brokers_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
)

// kinds are all brokers that start quickly; RabbitMQ has one test of its own, of everything.
var kinds = []brokers.Kind{brokers.NATS, brokers.Redis, brokers.Mosquitto}

func eachKind(t *testing.T, test func(t *testing.T, kind brokers.Kind)) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) { test(t, kind) })
	}
}

// greet sends the first bytes of the broker's protocol and returns how the answer begins.
func greet(conn net.Conn, kind brokers.Kind) (string, error) {
	words := map[brokers.Kind]string{
		brokers.Redis:     "PING\r\n",
		brokers.Mosquitto: "\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01t",
		brokers.RabbitMQ:  "AMQP\x00\x00\x09\x01",
	}
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, words[kind]); err != nil {
		return "", err
	}
	answer := make([]byte, 4)
	_, err := io.ReadFull(conn, answer)
	return string(answer), err
}

var answers = map[brokers.Kind]string{
	brokers.NATS: "INFO", brokers.Redis: "+PON", brokers.Mosquitto: "\x20\x02\x00\x00", brokers.RabbitMQ: "\x01\x00\x00\x00",
}

func mustGreet(t *testing.T, s *brokers.Server) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answer, err := greet(conn, s.Kind())
	if err != nil || answer != answers[s.Kind()] {
		t.Fatalf("the broker answered %q, %v, want %q", answer, err, answers[s.Kind()])
	}
}

func mustRefuse(t *testing.T, address string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err == nil {
		conn.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("connecting gave %v, want ECONNREFUSED", err)
	}
}

func TestABrokerAnswersWhenStartReturns(t *testing.T) {
	eachKind(t, func(t *testing.T, kind brokers.Kind) { mustGreet(t, brokers.ForTest(t, kind)) })
}

func TestKilledAndStoppedBrokersComeBackAtTheSamePortWithTheirFiles(t *testing.T) {
	eachKind(t, func(t *testing.T, kind brokers.Kind) {
		s := brokers.ForTest(t, kind)
		address := s.Addr()
		for name, end := range map[string]func() error{"Kill": s.Kill, "Stop": s.Stop} {
			mark := filepath.Join(s.Dir(), "mark")
			if err := os.WriteFile(mark, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := end(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			mustRefuse(t, address)
			if s.PID() != 0 {
				t.Errorf("after %s there is still the process %d", name, s.PID())
			}
			if err := s.Restart(); err != nil {
				t.Fatal(err)
			}
			mustGreet(t, s)
			if _, err := os.Stat(mark); err != nil || s.Addr() != address {
				t.Errorf("after %s it runs at %s, was at %s; the files: %v", name, s.Addr(), address, err)
			}
		}
	})
}

func TestRestartOfARunningBrokerStopsItFirst(t *testing.T) {
	eachKind(t, func(t *testing.T, kind brokers.Kind) {
		s := brokers.ForTest(t, kind)
		before := s.PID()
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		mustGreet(t, s)
		if s.PID() == before {
			t.Error("the process is still the same")
		}
	})
}

func TestASuspendedBrokerKeepsConnectionsButAnswersOnlyOnceResumed(t *testing.T) {
	eachKind(t, func(t *testing.T, kind brokers.Kind) {
		s := brokers.ForTest(t, kind)
		if err := s.Suspend(); err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", s.Addr()) // the kernel accepts
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		answer := make(chan error, 1)
		go func() {
			_, err := greet(conn, kind)
			answer <- err
		}()
		select {
		case err := <-answer:
			t.Errorf("a suspended broker answered (%v)", err)
		case <-time.After(100 * time.Millisecond): // an answer takes less than one
		}
		if err := s.Resume(); err != nil {
			t.Fatal(err)
		}
		if err := <-answer; err != nil {
			t.Errorf("after Resume: %v", err)
		}
	})
}

func TestASuspendedBrokerCanBeStoppedAndKilled(t *testing.T) {
	eachKind(t, func(t *testing.T, kind brokers.Kind) {
		s := brokers.ForTest(t, kind)
		for name, end := range map[string]func() error{"Kill": s.Kill, "Stop": s.Stop} {
			if err := errors.Join(s.Suspend(), end()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			mustRefuse(t, s.Addr())
			if err := s.Restart(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestBrokersDieWithAParentThatIsKilled(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only Linux ends children with their parent")
	}
	eachKind(t, func(t *testing.T, kind brokers.Kind) {
		_, err := exec.LookPath(string(kind))
		if _, system := os.Stat("/usr/sbin/" + string(kind)); err != nil && system != nil && kind != brokers.NATS {
			t.Skipf("NOT TESTED: %s is not installed", kind)
		}
		parent := exec.Command(os.Args[0])
		parent.Env = append(os.Environ(), asParent+"="+string(kind), asParent+"_DIR="+t.TempDir())
		parent.Stderr = os.Stderr
		output, err := parent.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			parent.Process.Kill()
			parent.Wait()
		})
		line, err := bufio.NewReader(output).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var pid int
		var address string
		if _, err := fmt.Sscan(line, &pid, &address); err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := greet(conn, kind); err != nil {
			t.Fatal(err)
		}
		parent.Process.Kill()
		// The end of the broker's process is the end of its connections.
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the broker %d lives on", pid)
		}
		// The kernel may take a moment longer for the rest of it.
		for began := time.Now(); time.Since(began) < 10*time.Second; {
			if again, err := net.Dial("tcp", address); err != nil {
				break
			} else {
				again.Close()
			}
		}
		mustRefuse(t, address)
	})
}

func TestAPasswordIsInTheURLAndWanted(t *testing.T) {
	eachKind(t, func(t *testing.T, kind brokers.Kind) {
		s := brokers.ForTest(t, kind, brokers.Config{User: "ada", Password: "s3cret"})
		u, err := url.Parse(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		if password, _ := u.User.Password(); u.User.Username() != "ada" || password != "s3cret" {
			t.Errorf("the URL is %s", s.URL())
		}
		conn, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		answer, err := greet(conn, kind)
		if kind == brokers.NATS && err == nil {
			reader := bufio.NewReader(conn)
			reader.ReadString('\n')
			io.WriteString(conn, "CONNECT {}\r\nPING\r\n")
			answer, err = reader.ReadString('\n')
			answer = strings.TrimSpace(answer)
		}
		want := map[brokers.Kind]string{
			brokers.NATS: "-ERR 'Authorization Violation'", brokers.Redis: "-NOA", brokers.Mosquitto: "\x20\x02\x00\x05",
		}
		if err != nil || answer != want[kind] {
			t.Errorf("without a password it answered %q, %v, want %q", answer, err, want[kind])
		}
	})
}

func TestWithCertificatesTheBrokerSpeaksTLSAndWantsThoseOfClients(t *testing.T) {
	authority := transporttest.NewAuthority(t, "test authority")
	files := authority.Issue(t, t.TempDir(), "127.0.0.1")
	own, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	schemes := map[brokers.Kind]string{brokers.NATS: "nats", brokers.Redis: "rediss", brokers.Mosquitto: "mqtts"}
	eachKind(t, func(t *testing.T, kind brokers.Kind) {
		s := brokers.ForTest(t, kind, brokers.Config{Cert: files.Cert, Key: files.Key, CA: files.CA})
		if scheme, _, _ := strings.Cut(s.URL(), ":"); scheme != schemes[kind] {
			t.Errorf("the URL is %s", s.URL())
		}
		for _, with := range []bool{true, false} {
			conn, err := net.Dial("tcp", s.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if kind == brokers.NATS { // INFO comes before the handshake
				for last := []byte{0}; last[0] != '\n'; { // a byte at a time: what follows is TLS's
					if _, err := conn.Read(last); err != nil {
						t.Fatal(err)
					}
				}
			}
			config := &tls.Config{InsecureSkipVerify: true}
			if with {
				config.Certificates = []tls.Certificate{own}
			}
			var answer string
			if secure := tls.Client(conn, config); kind == brokers.NATS {
				err = secure.Handshake()
				if err == nil {
					_, err = io.WriteString(secure, "CONNECT {}\r\n")
				}
				if err == nil {
					answer, err = bufio.NewReader(secure).ReadString('\n')
				}
				if with && err == nil && answer != "+OK\r\n" {
					t.Errorf("it answered %q", answer)
				}
			} else {
				answer, err = greet(secure, kind)
			}
			if (err == nil) != with {
				t.Errorf("with a certificate: %v: it answered %q, %v", with, answer, err)
			}
		}
	})
}

func TestTheTemporaryFolderGoesWithTheBrokerAndAnotherStays(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		s, err := brokers.Start(brokers.NATS, brokers.Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(s.Dir()); (err == nil) != (dir != "") {
			t.Errorf("Dir %q: after Close the folder gives %v", dir, err)
		}
		mustRefuse(t, s.Addr())
	}
}

func TestABrokerThatEndsAtOnceIsAnErrorWithWhatItSaid(t *testing.T) {
	for kind, said := range map[brokers.Kind]string{brokers.NATS: "Parse error", brokers.Redis: "Bad directive", brokers.Mosquitto: "Unknown configuration"} {
		t.Run(string(kind), func(t *testing.T) {
			dir := t.TempDir()
			s, err := brokers.Start(kind, brokers.Config{Dir: dir, Extra: "nonsense 1 2 3"})
			if err == nil {
				s.Close()
				t.Fatal("it started with nonsense in its configuration")
			}
			if errors.Is(err, brokers.ErrMissing) {
				t.Skipf("NOT TESTED: %v", err)
			}
			if !strings.Contains(err.Error(), said) {
				t.Errorf("the error is %v, want %q in it", err, said)
			}
		})
	}
}

func TestConfigsThatCannotBeMeantAreRefused(t *testing.T) {
	for _, c := range []brokers.Config{{Cert: "a"}, {Key: "a"}, {CA: "a"}, {User: "a"}} {
		if s, err := brokers.Start(brokers.Redis, c); err == nil {
			s.Close()
			t.Errorf("%+v was taken", c)
		}
	}
	if s, err := brokers.Start("kafka", brokers.Config{}); err == nil {
		s.Close()
		t.Error("an unknown broker was started")
	}
}

func TestSharedBrokersAreOneUntilStopped(t *testing.T) {
	first, second := brokers.ForTestShared(t, brokers.Redis), brokers.ForTestShared(t, brokers.Redis)
	if first != second {
		t.Error("two were started")
	}
	mustGreet(t, first)
	if code := brokers.Stopping(tests(7)).Run(); code != 7 {
		t.Errorf("tests that ended with 7 end with %d", code)
	}
	mustRefuse(t, first.Addr())
	mustGreet(t, brokers.ForTestShared(t, brokers.Redis))
}

// tests is the code that tests end with.
type tests int

func (code tests) Run() int { return int(code) }

func TestAMissingBrokerSkipsTheTestNamingItsPackageAndSaysSoInTheFile(t *testing.T) {
	brokers.Long(t) // as each test that asks for a broker, before it is looked for
	t.Setenv("PATH", t.TempDir())
	file := filepath.Join(t.TempDir(), "not-tested")
	t.Setenv(brokers.NotTestedFile, file)
	fake := &recorder{TB: t}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		brokers.ForTest(fake, brokers.Redis)
	}()
	<-ended
	written, err := os.ReadFile(file)
	for _, text := range []string{fake.text, string(written)} {
		if fake.how != "skipped" || err != nil || !strings.Contains(text, "Debian package redis-server") || !strings.Contains(text, t.Name()) {
			t.Errorf("the test was %s with %q; in the file is %q, %v", fake.how, fake.text, written, err)
		}
	}
}
