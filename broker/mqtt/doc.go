// Package mqtt is the transports mqtt:// and mqtts://, by brokers for MQTT 5 such as Mosquitto. Importing it registers
// them:
//
//	mqtt://user:password@host:1883   in the clear
//	mqtts://user:password@host:8883  TLS 1.3
//
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join("mqtt://10.0.0.5"))
//
// The ports may be left out. User and password are the credentials of an account at the broker. Each connection has a session
// of its own, which the broker keeps no longer than the connection.
//
// Subjects become topics with '/' for '.'. Messages go out with quality of service 0, at most once, and probes with 1,
// which the broker answers; subscriptions are for 0, so that both reach a subscriber in one order and nothing is kept or
// sent again. That nothing listens is the reason code 0x10 of PUBACK (MQTT 5, section 3.4.2.1). The standard lets brokers leave
// it out; Mosquitto does not.
//
// A Subscribe whose context ended may leave the broker with the subscription until the next connection: its messages are
// dropped here, and probes of others count it.
//
// What a user may not publish the broker drops without a word, and what it may not subscribe to is an error of Subscribe.
// A subscriber that is slower than its messages has the broker drop some, beyond the broker's own limit.
//
// The package takes the packets from paho.golang, except PUBLISH, which it writes and reads itself: with one allocation
// for a received message and one copy.
package mqtt
