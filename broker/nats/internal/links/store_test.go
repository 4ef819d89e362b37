package links_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/transport"
)

// stream opens a stream of the store behind an address.
func stream(t *testing.T, address, name string) jetstream.JetStream {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, release, err := connect(t.Context(), at, named(name), natsgo.Name(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		release()
	})
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// openStore opens the store behind an address. stop closes it.
func openStore(t *testing.T, address string) (js jetstream.JetStream, stop func()) {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, release, err := connect(t.Context(), at, transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if js, err = jetstream.New(conn); err != nil {
		t.Fatal(err)
	}
	return js, func() { conn.Close(); release() }
}

// keepOne makes the stream orders, with one message.
func keepOne(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "orders", Subjects: []string{"orders"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "orders", []byte("one")); err != nil {
		t.Fatal(err)
	}
}

func TestAStoreKeepsMessagesFromOneServerToTheNext(t *testing.T) {
	address := "nats://embedded:0?sync=true&store=" + url.QueryEscape(t.TempDir())
	for round := range 2 {
		js, stop := openStore(t, address)
		if round == 0 {
			keepOne(t, js)
		} else {
			s, err := js.Stream(t.Context(), "orders")
			if err != nil {
				t.Fatal(err)
			}
			message, err := s.GetMsg(t.Context(), 1)
			if err != nil || string(message.Data) != "one" {
				t.Errorf("the message is %v, %v", message, err)
			}
		}
		stop()
	}
}

func TestAStoresOwnerThatIsKilledIsFollowedByAnother(t *testing.T) {
	address := fmt.Sprintf("nats://embedded:%d?store=%s", freePort(t), url.QueryEscape(t.TempDir()))
	addr, kill := startPeer(t, address, "owner")
	own := join(t, address, transport.Config{})
	if own.Addr() != addr {
		t.Errorf("the store is at %s, the owner said %s", own.Addr(), addr)
	}
	answers := listen(t, own, "answers")
	until(t, answers, "owner", func() { own.Publish("owner.ask", nil) })
	_, _ = startPeer(t, address, "another") // which may become the owner too
	js := stream(t, address, "js")
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "orders", Subjects: []string{"orders"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "orders", []byte("one")); err != nil {
		t.Fatal(err)
	}
	kill()

	until(t, answers, "another", func() { own.Publish("another.ask", nil) })
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(waitLimit); ; <-again.C {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		message, err := func() (*jetstream.RawStreamMsg, error) {
			s, err := js.Stream(ctx, "orders")
			if err != nil {
				return nil, err
			}
			return s.GetMsg(ctx, 1)
		}()
		cancel()
		if err == nil && string(message.Data) == "one" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the message is not there: %v", err)
		}
	}
}

func TestAStoreInUseByAnotherProcessIsSaidSo(t *testing.T) {
	address := "nats://embedded:0?store=" + url.QueryEscape(t.TempDir())
	startPeer(t, address, "one")
	_, err := try(t, address, named("two"))
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("the error is %v", err)
	}
}

func TestAllUsesInAProcessShareAStoresServer(t *testing.T) {
	dir := url.QueryEscape(t.TempDir())
	one := join(t, "nats://embedded:0?store="+dir, named("one"))
	two := join(t, "nats://embedded:0?replicas=1&store="+dir, named("two"))
	if one.Addr() != two.Addr() {
		t.Errorf("there are two servers: %s and %s", one.Addr(), two.Addr())
	}
	messages := listen(t, two, "news")
	publish(t, two, "ready", "") // after the subscription, on the same connection
	until(t, messages, "hello", func() { one.Publish("news", []byte("hello")) })
	one.Close() // the server stays for the other
	until(t, messages, "again", func() { two.Publish("news", []byte("again")) })
}

// In one process, and at the port of another one's server.
func TestAnEmbeddedServerWithAnotherClusterKeyIsSaidSo(t *testing.T) {
	key := func(text string) transport.Config {
		return transport.Config{Name: "node", Keyed: true, Secret: secret.New(text)}
	}
	for _, test := range []struct{ server, use, want string }{
		{"", "one", "was started without the cluster key"},
		{"one", "", "wants a cluster key, and none was given"},
		{"one", "two", "wants another cluster key"},
	} {
		// A server without a store is for one name, so that another name goes by the port, as another process does.
		for where, address := range map[string]string{"its process": "&store=" + url.QueryEscape(t.TempDir()), "the port": ""} {
			address = fmt.Sprintf("nats://embedded:%d?prefix=p%s", freePort(t), address)
			server := join(t, address, key(test.server))
			other := key(test.use)
			other.Name = "another node"
			_, err := try(t, address, other)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "store.Config") {
				t.Errorf("by %s, a server with the key %q and a use with %q: the error is %v", where, test.server, test.use, err)
			}
			server.Close()
		}
	}
}

func TestServersWithAndWithoutAStoreShareAPortOnlyWhereTheStoreIsFirst(t *testing.T) {
	dir := url.QueryEscape(t.TempDir())
	address := fmt.Sprintf("nats://embedded:%d", freePort(t))
	without := join(t, address, named("without"))
	_, err := try(t, address+"?store="+dir, named("with"))
	if err == nil || !strings.Contains(err.Error(), "same address") {
		t.Errorf("a store after a mesh: the error is %v", err)
	}
	without.Close()

	with := join(t, address+"?store="+dir, named("with"))
	without = join(t, address, named("without"))
	if with.Addr() != without.Addr() {
		t.Errorf("there are two servers: %s and %s", with.Addr(), without.Addr())
	}
	messages := listen(t, with, "news")
	publish(t, without, "news", "hello")
	until(t, messages, "hello", func() {})
}

func TestProcessesWithOneStoreThatStartAtTheSameMomentHaveOneOwner(t *testing.T) {
	address := fmt.Sprintf("nats://embedded:%d?store=%s", freePort(t), url.QueryEscape(t.TempDir()))
	var peers []*peerProcess
	for i := range 4 {
		peers = append(peers, beginPeer(t, address, fmt.Sprint("peer-", i)))
	}
	own := join(t, address, transport.Config{})
	answers := listen(t, own, "answers")
	for i, peer := range peers {
		peer.await(t)
		if peer.addr != own.Addr() {
			t.Errorf("a process says %s, another one %s", peer.addr, own.Addr())
		}
		name := fmt.Sprint("peer-", i)
		until(t, answers, name, func() { own.Publish(name+".ask", nil) })
	}
}

// Where the folder was there before, its own mode is left as it is.
func TestTheFolderOfAStoreIsForItsOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	there := t.TempDir()
	if err := os.Chmod(there, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{filepath.Join(there, "made"), there} {
		js := stream(t, "nats://embedded:0?store="+url.QueryEscape(folder), filepath.Base(folder))
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "orders", Subjects: []string{"orders"}}); err != nil {
			t.Fatal(err)
		}
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || path == there {
				return err
			}
			info, err := entry.Info()
			if err == nil && info.Mode().Perm()&0o007 != 0 {
				t.Errorf("%s has the mode %v: others can use it", path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(filepath.Join(there, "made")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder that was made has the mode %v, %v", info.Mode(), err)
	}
}

// A power cut, or a copy of the folder that was cut short, leaves such a file.
func TestAStoreWithAStreamThatCannotBeReadDoesNotStartAndKeepsItsMessages(t *testing.T) {
	folder := t.TempDir()
	address := "nats://embedded:0?store=" + url.QueryEscape(folder)
	js, stop := openStore(t, address)
	keepOne(t, js)
	stop()
	sum := filepath.Join(folder, "jetstream", "$G", "streams", "orders", "meta.sum")
	good, err := os.ReadFile(sum)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sum, 0); err != nil {
		t.Fatal(err)
	}

	_, err = try(t, address, transport.Config{})
	if err == nil || !strings.Contains(err.Error(), filepath.Dir(sum)) {
		t.Errorf("the error is %v, want one that names the folder of the stream", err)
	}
	if err := os.WriteFile(sum, good, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := stream(t, address, "again").Stream(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	message, err := s.GetMsg(t.Context(), 1)
	if err != nil || string(message.Data) != "one" {
		t.Errorf("the message is %v, %v", message, err)
	}
}

// File systems that write a file's length before its bytes leave such a file after a power cut.
func TestAConsumerWhosePlaceIsLostGetsAllMessagesAgain(t *testing.T) {
	folder := t.TempDir()
	address := "nats://embedded:0?store=" + url.QueryEscape(folder)
	config := jetstream.ConsumerConfig{Durable: "mails", AckPolicy: jetstream.AckExplicitPolicy}
	place := filepath.Join(folder, "jetstream", "$G", "streams", "orders", "obs", "mails", "o.dat")
	for round := range 2 {
		js, stop := openStore(t, address)
		if round == 0 {
			keepOne(t, js)
		}
		consumer, err := js.CreateOrUpdateConsumer(t.Context(), "orders", config)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		message, err := consumer.Next()
		if err != nil || string(message.Data()) != "one" {
			t.Fatalf("round %d: the message is %v, %v", round, message, err)
		}
		if err := message.DoubleAck(t.Context()); err != nil {
			t.Fatal(err)
		}
		stop()
		if err := os.WriteFile(place, make([]byte, 17), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
