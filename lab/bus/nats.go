package bus

import "github.com/nats-io/nats.go"

// NATS is nats.go.
func NATS(address, subject string, deliver func([]byte)) (func(string, []byte) error, func(), error) {
	return NATSBy(func(address string) (*nats.Conn, func(), error) {
		conn, err := nats.Connect(address)
		return conn, conn.Close, err
	})(address, subject, deliver)
}

// NATSBy is nats.go, connected otherwise than by an address alone.
func NATSBy(connect func(address string) (conn *nats.Conn, stop func(), err error)) Connect {
	return func(address, subject string, deliver func([]byte)) (func(string, []byte) error, func(), error) {
		conn, stop, err := connect(address)
		if err != nil {
			return nil, nil, err
		}
		if _, err = conn.Subscribe(subject, func(m *nats.Msg) { deliver(m.Data) }); err == nil {
			err = conn.Flush()
		}
		if err != nil {
			stop()
			return nil, nil, err
		}
		return conn.Publish, stop, nil
	}
}
