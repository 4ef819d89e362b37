// Package states keeps the states of grains and leases in JetStream. Package broker/nats describes how.
package states
