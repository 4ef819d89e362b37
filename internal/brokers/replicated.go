package brokers

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Replicated is a Redis primary with replicas, and an address that leads to the primary until Promote has it lead elsewhere.
type Replicated struct {
	*Forwarder
	Primary  *Server
	Replicas []*Server
}

// ReplicatedForTest starts a primary and replicas that follow it, each with an append-only file that is synced. They end with the
// test.
func ReplicatedForTest(t testing.TB, replicas int) *Replicated {
	t.Helper()
	Long(t)
	const fast = "repl-diskless-sync-delay 0\n"
	r := &Replicated{Primary: ForTest(t, Redis, Config{Sync: true, Extra: fast})}
	r.Forwarder = NewForwarder(t, r.Primary.Addr())
	for range replicas {
		host, port, _ := strings.Cut(r.Primary.Addr(), ":")
		r.Replicas = append(r.Replicas, ForTest(t, Redis, Config{Sync: true, Extra: fast + "replicaof " + host + " " + port + "\n"}))
	}
	r.AwaitReplicas(t, r.Primary, replicas)
	if err := awaitConfirmed(r.Primary.Addr(), replicas); err != nil {
		t.Fatal(err)
	}
	return r
}

// awaitConfirmed returns when so many replicas have confirmed what the server got. A replica that has just come online confirms nothing until
// it sends its first acknowledgement, up to a second later, and a write that waits for a second may be refused meanwhile.
func awaitConfirmed(address string, replicas int) error {
	conn, err := net.DialTimeout("tcp4", address, answerLimit)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	// A message goes to replicas, and leaves nothing behind.
	if _, err := fmt.Fprintf(conn, "PUBLISH replicas online\r\nWAIT %d 30000\r\n", replicas); err != nil {
		return err
	}
	reader := bufio.NewReader(conn)
	var answer string
	for range 2 {
		if answer, err = reader.ReadString('\n'); err != nil {
			return err
		}
	}
	if want := fmt.Sprintf(":%d\r\n", replicas); answer != want {
		return fmt.Errorf("WAIT for %d replicas of %s: %q", replicas, address, answer)
	}
	return nil
}

// URL is the address that leads to the primary.
func (r *Replicated) URL() string { return "redis://" + r.Addr() }

// AwaitReplicas returns when a server has so many replicas online.
func (r *Replicated) AwaitReplicas(t testing.TB, server *Server, replicas int) {
	t.Helper()
	awaitText(t, server.Addr(), "INFO replication", func(text string) bool { return strings.Count(text, "state=online") == replicas })
}

// awaitText asks a server again until its answer passes said, for a minute at most.
func awaitText(t testing.TB, address, command string, said func(text string) bool) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	var text string
	var err error
	for time.Now().Before(end) {
		if text, err = queryRedis(address, command); err == nil && said(text) {
			return
		}
		<-again.C
	}
	t.Fatalf("%s: after a minute %s says %q, %v", address, command, text, err)
}

// SentinelName is the name of the primary at the Sentinel of [Replicated.Sentinel].
const SentinelName = "primary"

// Sentinel starts one that promotes a replica by itself two seconds after the primary is lost, and returns its address. With less than
// the second at which it pings, it loses a primary that it has just promoted, and promotes the next. It ends with
// the test.
func (r *Replicated) Sentinel(t testing.TB) (address string) {
	t.Helper()
	address, err := FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, port, _ := strings.Cut(address, ":")
	host, primary, _ := strings.Cut(r.Primary.Addr(), ":")
	text := fmt.Sprintf("bind 127.0.0.1\nport %s\ndir %q\nsentinel monitor %s %s %s 1\nsentinel down-after-milliseconds %s 2000\nsentinel failover-timeout %s 10000\n",
		port, dir, SentinelName, host, primary, SentinelName, SentinelName)
	path := filepath.Join(dir, "sentinel.conf") // which it writes to
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(r.Primary.program, path, "--sentinel")
	command.Dir = dir
	p, err := launch(command, filepath.Join(dir, "sentinel.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(syscall.SIGKILL) })
	known := fmt.Sprintf("slaves=%d", len(r.Replicas))
	awaitText(t, address, "INFO sentinel", func(text string) bool { return strings.Contains(text, known) })
	return address
}

// Promote makes a replica a primary. The address leads there from now on, and connections to elsewhere end.
func (r *Replicated) Promote(t testing.TB, replica *Server) {
	t.Helper()
	if _, err := queryRedis(replica.Addr(), "REPLICAOF NO ONE"); err != nil {
		t.Fatal(err)
	}
	r.Point(replica.Addr())
	r.Cut()
}

// Promoted returns the replica that is a primary now.
func (r *Replicated) Promoted(t testing.TB) *Server {
	t.Helper()
	for _, replica := range r.Replicas {
		if text, err := queryRedis(replica.Addr(), "INFO replication"); err == nil && strings.Contains(text, "role:master") {
			return replica
		}
	}
	t.Fatal("no replica was promoted")
	return nil
}

// queryRedis asks a server that wants no password, and returns the bulk or the line that it answers.
func queryRedis(address, command string) (string, error) {
	conn, err := net.DialTimeout("tcp4", address, answerLimit)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(answerLimit))
	if _, err := fmt.Fprintf(conn, "%s\r\n", command); err != nil {
		return "", err
	}
	reader := bufio.NewReader(conn)
	line, err := reader.ReadString('\n')
	switch {
	case err != nil:
		return "", err
	case strings.HasPrefix(line, "-"):
		return "", fmt.Errorf("%s: %s", command, strings.TrimSpace(line[1:]))
	case !strings.HasPrefix(line, "$"):
		return strings.TrimSpace(line[1:]), nil
	}
	var size int
	if _, err := fmt.Sscanf(line, "$%d", &size); err != nil {
		return "", err
	}
	text := make([]byte, size)
	for read := 0; read < size; {
		n, err := reader.Read(text[read:])
		if err != nil {
			return "", err
		}
		read += n
	}
	return string(text), nil
}
