// Package channels keeps channels in RabbitMQ. Package broker/amqp describes how.
package channels
