// Package channels keeps channels in JetStream. Package broker/nats describes how.
package channels
