package mqtt

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/sabir-go/sabir/internal/transports"
)

const (
	readAhead   = 64 << 10
	copiedBelow = 8 << 10 // bytes of a payload that are cheaper to copy than to gather
	mostProbes  = 256     // that wait for the broker's answer
)

// conn is one connection to the broker. It is of no use after its first error.
type conn struct {
	raw       net.Conn
	socket    io.Closer // below TLS, whose own Close may wait
	reader    *bufio.Reader
	gathers   bool
	separator byte          // of the words of a topic
	largest   int           // bytes of a payload
	every     time.Duration // of keep; 0 is never
	ids       chan uint16   // of probes that may be sent: the broker sets how many at a time (section 3.2.2.3.3)
	ended     chan struct{} // is closed when it broke
	received  atomic.Bool   // something was read since it was last set to false

	mu      sync.Mutex // one packet is written at a time
	scratch []byte
	parts   [2][]byte
	buffers net.Buffers

	stateMu sync.Mutex
	err     error              // the first
	probes  [mostProbes]string // the subjects, by id-1
}

// open dials the broker and makes a session.
func (s *settings) open(ctx context.Context) (*conn, error) {
	raw, err := s.dialRaw(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{raw: raw, socket: raw, reader: bufio.NewReaderSize(raw, readAhead), gathers: transports.Gathers(raw), every: s.keepAlive(), separator: s.separator, ended: make(chan struct{})}
	if encrypted, ok := raw.(*tls.Conn); ok {
		c.socket = encrypted.NetConn()
	}
	end := c.until(ctx)
	err = end(c.greet(s))
	if err != nil {
		c.fail(err)
		return nil, err
	}
	return c, nil
}

// until has reads and writes end with ctx, up to the call of what it returns. That makes the error that of ctx, if it
// was the cause.
func (c *conn) until(ctx context.Context) func(error) error {
	stop := context.AfterFunc(ctx, func() { c.raw.SetDeadline(time.Unix(1, 0)) })
	return func(err error) error {
		if stop() {
			return err
		}
		return ctx.Err() // the deadline stays, so that the connection is not taken for a good one
	}
}

// greet sends CONNECT and reads CONNACK (sections 3.1 and 3.2).
func (c *conn) greet(s *settings) error {
	none := uint32(0)
	largest := uint32(largestMessage + largestHeader)
	hello := &packets.Connect{
		ProtocolName: "MQTT", ProtocolVersion: 5,
		CleanStart: true, ClientID: s.client, KeepAlive: uint16(c.every / time.Second),
		UsernameFlag: s.user != "", Username: s.user,
		PasswordFlag: s.password != "", Password: []byte(s.password),
		Properties: &packets.Properties{SessionExpiryInterval: &none, MaximumPacketSize: &largest},
	}
	if err := c.write(hello); err != nil {
		return err
	}
	first, length, err := readHeader(c.reader)
	if err != nil {
		return fmt.Errorf("no answer to CONNECT: %w", unfinished(err))
	}
	if first>>4 == packets.CONNACK && length == 2 {
		return errors.New("the broker does not speak MQTT 5")
	}
	if first != packets.CONNACK<<4 {
		return fmt.Errorf("what answers CONNECT with the byte %#x is not a broker for MQTT", first)
	}
	answer, err := readControl(c.reader, first, length)
	if err != nil {
		return err
	}
	welcome := answer.(*packets.Connack)
	if welcome.ReasonCode != 0 {
		return fmt.Errorf("the broker refuses us with the code %#x: %s", welcome.ReasonCode, welcome.Reason())
	}
	return c.limits(welcome.Properties)
}

// limits takes in what the broker can do and wants (section 3.2.2.3).
func (c *conn) limits(said *packets.Properties) error {
	if said.MaximumQOS != nil && *said.MaximumQOS == 0 {
		return errors.New("the broker takes no messages with quality of service 1, without which nothing is known of subscribers")
	}
	if said.ServerKeepAlive != nil {
		c.every = time.Duration(*said.ServerKeepAlive) * time.Second
	}
	c.largest = largestMessage
	if said.MaximumPacketSize != nil {
		c.largest = max(0, min(c.largest, int(*said.MaximumPacketSize)-largestHeader))
	}
	probes := uint16(mostProbes)
	if said.ReceiveMaximum != nil {
		probes = max(1, min(probes, *said.ReceiveMaximum))
	}
	c.ids = make(chan uint16, probes)
	for id := range probes {
		c.ids <- id + 1
	}
	return nil
}

// fail ends the connection, unless it has ended.
func (c *conn) fail(err error) {
	c.stateMu.Lock()
	defer c.stateMu.Unlock()
	if c.err == nil {
		c.err = err
		c.socket.Close()
		close(c.ended)
	}
}

// reason is the error that the connection ended with.
func (c *conn) reason() error {
	c.stateMu.Lock()
	defer c.stateMu.Unlock()
	return c.err
}

// write sends a packet other than PUBLISH.
func (c *conn) write(packet packets.Packet) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := packet.WriteTo(c.raw)
	if err != nil {
		c.fail(err)
	}
	return err
}

// publish sends a message; an id is for the broker's answer.
func (c *conn) publish(subject string, id uint16, data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scratch = appendPublish(c.scratch[:0], subject, c.separator, id, len(data))
	var err error
	if c.gathers && len(data) >= copiedBelow {
		c.parts = [2][]byte{c.scratch, data}
		c.buffers = c.parts[:]
		_, err = transports.WriteBuffers(c.raw, &c.buffers)
		c.parts = [2][]byte{}
	} else {
		c.scratch = append(c.scratch, data...)
		_, err = c.raw.Write(c.scratch)
	}
	if cap(c.scratch) > readAhead {
		c.scratch = nil
	}
	if err != nil {
		c.fail(err)
		return c.reason() // which may be an earlier one
	}
	return nil
}

// probe is publish with an answer, for which a limited number of messages may wait.
func (c *conn) probe(subject string, data []byte) error {
	select {
	case id := <-c.ids:
		c.stateMu.Lock()
		c.probes[id-1] = subject
		c.stateMu.Unlock()
		return c.publish(subject, id, data)
	case <-c.ended:
		return c.reason()
	}
}

// answered takes in the answer to a probe, and returns its subject where nothing subscribes.
func (c *conn) answered(ack *packets.Puback) (unheard string, err error) {
	if ack.PacketID == 0 || int(ack.PacketID) > cap(c.ids) {
		return "", fmt.Errorf("the broker acknowledged a message %d, which there is not", ack.PacketID)
	}
	c.stateMu.Lock()
	subject := c.probes[ack.PacketID-1]
	c.probes[ack.PacketID-1] = ""
	c.stateMu.Unlock()
	if subject == "" {
		return "", fmt.Errorf("the broker acknowledged message %d twice", ack.PacketID)
	}
	c.ids <- ack.PacketID // has space: the id was taken from there
	if ack.ReasonCode == packets.PubackNoMatchingSubscribers {
		return subject, nil
	}
	return "", nil
}

// keep asks the broker whether it is there whenever so much time has passed, and ends the connection if it does not
// answer before the next time. It returns when the connection has ended.
func (c *conn) keep() {
	every := c.every
	if every == 0 {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-c.ended:
			return
		case <-tick.C:
		}
		if !c.received.Swap(false) {
			c.fail(fmt.Errorf("the broker did not answer for %v", every))
			return
		}
		// A broker that takes nothing for so long is as bad as one that sends nothing.
		c.raw.SetWriteDeadline(time.Now().Add(every))
		if c.write(&packets.Pingreq{}) == nil {
			c.raw.SetWriteDeadline(time.Time{})
		}
	}
}

// leave sends a goodbye. The broker closes the connection when it has read so far, which ends the reader.
func (c *conn) leave() {
	if c.write(&packets.Disconnect{Properties: &packets.Properties{}}) != nil {
		return
	}
	if half, ok := c.raw.(transports.HalfCloser); ok {
		half.CloseWrite()
	}
}
