package httpstrict

import (
	"io"
	"net"
	"strings"
	"testing"
)

// countedReads counts the reads of a connection, each of which is a system call.
type countedReads struct {
	net.Conn
	reads int
}

func (c *countedReads) Read(p []byte) (int, error) {
	c.reads++
	return c.Conn.Read(p)
}

func TestFramesOfHTTP2ThatHaveComeAreReadTogether(t *testing.T) {
	const preface, frames = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 100
	ping := "\x00\x00\x08\x06\x00\x00\x00\x00\x00" + "01234567"
	for name, prefix := range map[string]string{"nothing": "", "the preface": preface, "half of a frame too": preface + ping[:5]} {
		t.Run(name+" was read before", func(t *testing.T) {
			client, server := net.Pipe()
			defer client.Close()
			counted := &countedReads{Conn: server}
			handed := NewConn(counted, []byte(prefix), true, func(reason string) { t.Error(reason) })
			sent := (preface + strings.Repeat(ping, frames))[len(prefix):]
			go io.WriteString(client, sent)
			if _, err := io.ReadFull(handed, make([]byte, len(preface))); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(ping))
			for range frames {
				if _, err := io.ReadFull(handed, got[:9]); err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(handed, got[9:]); err != nil || string(got) != ping {
					t.Fatal(got, err)
				}
			}
			if counted.reads > 3 {
				t.Errorf("%d reads for %d frames that came at once", counted.reads, frames)
			}
		})
	}
}
