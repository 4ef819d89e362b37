package bus

import (
	"context"

	"github.com/redis/rueidis"
)

// Redis is rueidis: publish and subscribe.
func Redis(address, subject string, deliver func([]byte)) (func(string, []byte) error, func(), error) {
	options, err := rueidis.ParseURL(address)
	if err != nil {
		return nil, nil, err
	}
	options.DisableCache = true
	client, err := rueidis.NewClient(options)
	if err != nil {
		return nil, nil, err
	}
	subscriber, cancel := client.Dedicate()
	stop := func() { cancel(); client.Close() }
	subscriber.SetPubSubHooks(rueidis.PubSubHooks{OnMessage: func(m rueidis.PubSubMessage) { deliver([]byte(m.Message)) }})
	if err := subscriber.Do(context.Background(), subscriber.B().Subscribe().Channel(subject).Build()).Error(); err != nil {
		stop()
		return nil, nil, err
	}
	return func(channel string, data []byte) error {
		return client.Do(context.Background(), client.B().Publish().Channel(channel).Message(rueidis.BinaryString(data)).Build()).Error()
	}, stop, nil
}
