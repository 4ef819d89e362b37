// Package links carries links through NATS. Package broker/nats describes it; package internal/nats makes the connections.
package links
