package brokers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// zooKeeperJars are the libraries of ZooKeeper's server 3.9.5, by their paths at Maven Central, with their SHA-256.
var zooKeeperJars = map[string]string{
	"org/apache/zookeeper/zookeeper/3.9.5/zookeeper-3.9.5.jar":              "936d025db1a85f085edea25048c3f5b3de5fc29329c371a10925e3b78b0b38a0",
	"org/apache/zookeeper/zookeeper-jute/3.9.5/zookeeper-jute-3.9.5.jar":    "abcbc7f9d6c493daa118da6fa3061a201e2c521217526e8535adfb56b629e52a",
	"org/slf4j/slf4j-api/2.0.13/slf4j-api-2.0.13.jar":                       "e7c2a48e8515ba1f49fa637d57b4e2f590b3f5bd97407ac699c3aa5efb1204a9",
	"org/slf4j/slf4j-simple/2.0.13/slf4j-simple-2.0.13.jar":                 "3153fe1d689cffb94f1530b58470c306685ba68844de8857116e3b6ebb81d9f7",
	"commons-io/commons-io/2.17.0/commons-io-2.17.0.jar":                    "4aa4ca48f3dfd30b78220b7881d8cb93eac4093ec94361b6befa9487998a550b",
	"io/dropwizard/metrics/metrics-core/4.1.12.1/metrics-core-4.1.12.1.jar": "cec34936faa625039f4e46123eccaa10a9eb9d9a40c6075830cd81330e259cf9",
	"org/xerial/snappy/snappy-java/1.1.10.5/snappy-java-1.1.10.5.jar":       "0f3f1857ed33116583f480b4df5c0218836c47bfbc9c6221c0d73f356decf37b",
}

func startZooKeeper(s *Server) error {
	path, err := classPath(zooKeeperJars)
	if err != nil {
		return fmt.Errorf("%w: Maven Central cannot be reached: %w", ErrMissing, err)
	}
	settings := fmt.Sprintf("clientPort=%d\nclientPortAddress=127.0.0.1\ndataDir=%s\ntickTime=500\nadmin.enableServer=false\n4lw.commands.whitelist=srvr\n%s\n", s.port, s.file("data"), s.config.Extra)
	file, err := s.write("zoo.cfg", settings)
	if err != nil {
		return err
	}
	s.main, err = launch(s.command(s.program, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", path, "org.apache.zookeeper.server.ZooKeeperServerMain", file), s.Log())
	return err
}

func zooKeeperAnswers(s *Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", s.Addr())
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, 100))
	if err == nil && !strings.HasPrefix(string(answer), "Zookeeper version") { // it says "not currently serving requests" while it reads its data
		err = errors.New("it answers " + strconv.Quote(string(answer)))
	}
	return err
}
