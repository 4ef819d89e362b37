package mqtt_test

import (
	"net"
	"net/url"
	"testing"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
)

// BenchmarkRawBatchedEcho is the client of paho.golang, with which BenchmarkBatchedEcho compares.
func BenchmarkRawBatchedEcho(b *testing.B) {
	at, err := url.Parse(brokers.ForTestShared(b, brokers.Mosquitto).URL())
	if err != nil {
		b.Fatal(err)
	}
	connect := func(id, topic string, deliver func([]byte)) func(topic string, message []byte) error {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			b.Fatal(err)
		}
		client := paho.NewClient(paho.ClientConfig{
			Conn: packets.NewThreadSafeConn(conn),
			OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(p paho.PublishReceived) (bool, error) {
				deliver(p.Packet.Payload)
				return true, nil
			}},
		})
		if _, err := client.Connect(b.Context(), &paho.Connect{ClientID: id, CleanStart: true, KeepAlive: 15}); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { client.Disconnect(&paho.Disconnect{}) })
		if _, err := client.Subscribe(b.Context(), &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: topic}}}); err != nil {
			b.Fatal(err)
		}
		return func(topic string, message []byte) error {
			_, err := client.Publish(b.Context(), &paho.Publish{Topic: topic, Payload: message})
			return err
		}
	}
	transporttest.BatchedEcho(b, func(asked, answered func([]byte)) (ask, answer func([]byte) error) {
		asking := connect("asking", "benchmark/answers", answered)
		answering := connect("answering", "benchmark/questions", asked)
		return func(message []byte) error { return asking("benchmark/questions", message) },
			func(message []byte) error { return answering("benchmark/answers", message) }
	})
}
