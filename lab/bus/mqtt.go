package bus

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
)

// MQTT is the client of paho.golang, with quality of service 0. Subjects become topics.
func MQTT(address, subject string, deliver func([]byte)) (func(string, []byte) error, func(), error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, nil, err
	}
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		return nil, nil, err
	}
	topic := func(subject string) string { return strings.ReplaceAll(subject, ".", "/") }
	client := paho.NewClient(paho.ClientConfig{
		Conn: packets.NewThreadSafeConn(conn),
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(p paho.PublishReceived) (bool, error) {
			deliver(p.Packet.Payload)
			return true, nil
		}},
	})
	ctx := context.Background()
	if _, err := client.Connect(ctx, &paho.Connect{ClientID: subject, CleanStart: true, KeepAlive: 15}); err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("%s: %w", address, err)
	}
	stop := func() { client.Disconnect(&paho.Disconnect{}) }
	if _, err := client.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: topic(subject)}}}); err != nil {
		stop()
		return nil, nil, fmt.Errorf("%s: %w", address, err)
	}
	return func(subject string, data []byte) error {
		_, err := client.Publish(ctx, &paho.Publish{Topic: topic(subject), Payload: data})
		return err
	}, stop, nil
}
