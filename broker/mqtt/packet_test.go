package mqtt

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/eclipse/paho.golang/packets"
)

// sizes of payloads on both sides of where the length takes one more byte.
var sizes = []int{0, 1, 100, 127, 128, 129, 16_000, 16_383, 16_384, 70_000, 2_097_151, 2_097_152}

func TestMessagesAreWrittenAsPahoWritesThem(t *testing.T) {
	for _, id := range []uint16{0, 1, 255, 65535} {
		for _, size := range sizes {
			payload := bytes.Repeat([]byte{'p'}, size)
			message := packets.Publish{Topic: "sabir/shop/n1-x7_Kd", Payload: payload, PacketID: id, Properties: &packets.Properties{}}
			if id != 0 {
				message.QoS = 1
			}
			var want bytes.Buffer
			if _, err := message.WriteTo(&want); err != nil {
				t.Fatal(err)
			}
			got := append(appendPublish(nil, "sabir.shop.n1-x7_Kd", '/', id, size), payload...)
			if !bytes.Equal(got, want.Bytes()) {
				t.Errorf("message %d of %d bytes begins with % x, want % x", id, size, got[:30], want.Bytes()[:30])
			}
		}
	}
}

// readMessage reads one PUBLISH packet with its header.
func readMessage(r *bufio.Reader, wanted bool) (topic string, payload []byte, err error) {
	first, length, err := readHeader(r)
	if err != nil {
		return "", nil, err
	}
	payload, err = readPublish(r, first, length, func(name []byte) bool {
		topic = string(name)
		return wanted
	})
	return topic, payload, err
}

func TestMessagesAreReadAsPahoWritesThem(t *testing.T) {
	expiry := uint32(7)
	for _, properties := range []packets.Properties{
		{},
		{MessageExpiry: &expiry, ContentType: "text"},
		{User: []packets.User{{Key: "k", Value: strings.Repeat("v", 200_000/4)}}}, // longer than what is read ahead
	} {
		for _, size := range sizes {
			payload := bytes.Repeat([]byte{'p'}, size)
			message := packets.Publish{Topic: "sabir/shop", Payload: payload, Properties: &properties}
			var wire bytes.Buffer
			for range 2 {
				if _, err := message.WriteTo(&wire); err != nil {
					t.Fatal(err)
				}
			}
			r := bufio.NewReaderSize(&wire, readAhead)
			if _, got, err := readMessage(r, false); got != nil || err != nil { // skipped up to the next one
				t.Fatalf("a message that nobody wants is read as %d bytes, %v", len(got), err)
			}
			topic, got, err := readMessage(r, true)
			if err != nil || topic != "sabir/shop" || !bytes.Equal(got, payload) {
				t.Fatalf("%d bytes are read as %d on %q, %v", size, len(got), topic, err)
			}
			if _, err := r.ReadByte(); err != io.EOF {
				t.Fatal("something is left")
			}
		}
	}
}

func TestPacketsThatCannotBe(t *testing.T) {
	for _, test := range []struct {
		name, bytes, says string
	}{
		{"a length of five bytes", "\x30\xff\xff\xff\xff\x01", "more than 4 bytes"},
		{"a message larger than is taken", "\x30\xff\xff\xff\x7f", "PUBLISH packet of 268435455 bytes"},
		{"a message without a topic's length", "\x30\x02\x00\x00", "PUBLISH packet of 2 bytes"},
		{"a topic longer than its packet", "\x30\x05\x00\x09abc", "topic of 9"},
		{"properties longer than their packet", "\x30\x07\x00\x01a\x09bcd", "9 bytes of properties"},
		{"another quality of service", "\x32\x06\x00\x01a\x00\x01\x00", "another quality of service"},
		{"an end in the middle", "\x30\x07\x00\x01a\x00bc", "unexpected EOF"},
		{"an end in the header", "\x30\x80", "unexpected EOF"},
		{"a packet of no type", "\x00\x00", "unknown type 0"},
		{"an acknowledgement that is too short", "\x40\x01\x00", "PUBACK packet that cannot be read"},
		{"a control packet that is too large", "\x90\x80\x80\x10", "packet of type 9 with 262144 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := readAll(strings.NewReader(test.bytes)); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error is %v, want one with %q", err, test.says)
			}
		})
	}
}

// readAll reads packets as a broker's are read, until an error.
func readAll(from io.Reader) error {
	r := bufio.NewReaderSize(from, readAhead)
	for {
		first, length, err := readHeader(r)
		if err != nil {
			return err
		}
		if first>>4 == packets.PUBLISH {
			_, err = readPublish(r, first, length, func(topic []byte) bool { return len(topic)%2 == 0 })
		} else {
			_, err = readControl(r, first, length)
		}
		if err != nil {
			return err
		}
	}
}

func FuzzPackets(f *testing.F) {
	for _, packet := range []packets.Packet{
		&packets.Connack{Properties: &packets.Properties{AssignedClientID: "n1"}},
		&packets.Suback{PacketID: 7, Reasons: []byte{0, 0x87}, Properties: &packets.Properties{ReasonString: "no"}},
		&packets.Puback{PacketID: 7, ReasonCode: 0x10, Properties: &packets.Properties{}},
		&packets.Disconnect{ReasonCode: 0x8d, Properties: &packets.Properties{}},
		&packets.Publish{Topic: "sabir/shop", Payload: []byte("hello"), Properties: &packets.Properties{ContentType: "text"}},
		&packets.Pingresp{},
	} {
		var wire bytes.Buffer
		packet.WriteTo(&wire)
		f.Add(wire.Bytes())
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		if err := readAll(bytes.NewReader(wire)); err == nil { // and nothing panics
			t.Error("the end was not seen")
		}
	})
}

func BenchmarkReadMessage(b *testing.B) {
	for _, size := range []int{100, 16_925} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			wire := append(appendPublish(nil, "sabir.shop.n1-x7Kd", '/', 0, size), make([]byte, size)...)
			source := bytes.NewReader(wire)
			r := bufio.NewReaderSize(source, readAhead)
			b.ReportAllocs()
			for b.Loop() {
				source.Reset(wire)
				r.Reset(source)
				if _, payload, err := readMessage(r, true); err != nil || len(payload) != size {
					b.Fatal(err)
				}
			}
		})
	}
}
