// Package links carries links through RabbitMQ. Package broker/amqp describes it.
package links
