// Package states keeps the states of grains and leases in Redis. Package broker/redis describes how. Package internal/replication
// describes what the confirmations of replicas guarantee, and what they do not.
package states
