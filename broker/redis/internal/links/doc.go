// Package links carries links through the publish and subscribe of Redis. Package broker/redis describes it.
package links
