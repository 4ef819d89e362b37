// Package channels keeps channels in Redis Streams. Package broker/redis describes how. Package internal/replication describes what the
// confirmations of replicas guarantee, and what they do not.
package channels
