package brokers

import (
	"errors"
	"fmt"
	"time"
)

// Kind is one of the brokers that can be started.
type Kind string

const (
	// NATS is nats-server with JetStream, its store in the server's folder.
	NATS Kind = "nats-server"
	// Redis is redis-server with an append-only file.
	Redis Kind = "redis-server"
	// Mosquitto is an MQTT broker for versions 3.1.1 and 5. It saves its state when it stops.
	Mosquitto Kind = "mosquitto"
	// RabbitMQ speaks AMQP 0-9-1. It takes 5 to 10 seconds to start: see [ForTestShared].
	RabbitMQ Kind = "rabbitmq-server"
	// Etcd is a directory of nodes, not a broker: one server of etcd. It has no users at first; Config.Extra is left out.
	Etcd Kind = "etcd"
	// Consul is a directory of nodes: one agent that is a server. Config.Password is the token of its operators, without which it refuses all. It speaks no TLS here.
	Consul Kind = "consul"
	// ZooKeeper is a registry of services: one server of ZooKeeper, whose sessions last 1 to 10 seconds. It has no users and no TLS here.
	ZooKeeper Kind = "zookeeper"
	// Nacos is a registry of services: one server of Nacos 3, which has no TLS here. With a Password its user is nacos.
	Nacos Kind = "nacos"
)

// Config configures a broker. The zero Config admits all clients on this machine, without TLS, in a new folder.
type Config struct {
	// Dir is the folder of the broker's files; it is made if it is not there. Empty is a new temporary folder, which
	// Close removes.
	Dir string

	// User and Password are the credentials that clients must send, where Password is not empty. User may be left out:
	// Redis then has its nameless user, and the others one called "sabir". RabbitMQ without a Password has the user guest
	// with the password guest.
	User, Password string

	// Cert and Key are PEM files. With them the broker speaks TLS, and nothing else, on its port. With CA too, clients
	// must show a certificate of an authority in that file, and the broker's must be fit to be shown as a client's,
	// since Start connects with it.
	Cert, Key, CA string

	// Sync has Redis and JetStream bring each write to the disk before they acknowledge it. Without it a killed broker
	// loses nothing either, as the kernel has the data; a machine without power does. RabbitMQ does so always for
	// persistent messages with confirms. Mosquitto then saves its state once a second, and cannot do better.
	Sync bool

	// Extra is lines for the broker's configuration file, in its own syntax.
	Extra string
}

func (c Config) secure() bool { return c.Cert != "" }

func (c Config) check() error {
	switch {
	case (c.Cert == "") != (c.Key == ""):
		return errors.New("Config.Cert and Config.Key go together")
	case c.CA != "" && c.Cert == "":
		return errors.New("Config.CA needs Config.Cert and Config.Key")
	case c.User != "" && c.Password == "":
		return errors.New("Config.User needs Config.Password")
	}
	return nil
}

// recipe holds the settings and functions in which the kinds of brokers differ.
type recipe struct {
	scheme, secure string // of URLs
	debian         string // the package that has the program
	startTimeout   time.Duration
	program        func() (path string, err error)
	start          func(*Server) error
	answers        func(*Server) error
}

func recipeOf(kind Kind) (recipe, error) {
	switch kind {
	case NATS:
		return recipe{"nats", "nats", "", time.Minute, natsProgram, startNATS, natsAnswers}, nil
	case Redis:
		return recipe{"redis", "rediss", "redis-server", time.Minute, installed("redis-server"), startRedis, redisAnswers}, nil
	case Mosquitto:
		return recipe{"mqtt", "mqtts", "mosquitto", time.Minute, installed("mosquitto", "/usr/sbin/mosquitto"), startMosquitto, mosquittoAnswers}, nil
	case RabbitMQ:
		return recipe{"amqp", "amqps", "rabbitmq-server", 3 * time.Minute, installed("rabbitmq-server", "/usr/lib/rabbitmq/bin/rabbitmq-server"), startRabbitMQ, rabbitMQAnswers}, nil
	case Etcd:
		return recipe{"http", "https", "etcd-server", time.Minute, installed("etcd"), startEtcd, etcdAnswers}, nil
	case Consul:
		return recipe{"http", "http", "consul, of bullseye; else it is built from the module proxy where SABIR_TEST_ALL is set", time.Minute, consulProgram, startConsul, consulAnswers}, nil
	case ZooKeeper:
		return recipe{"zookeeper", "", "default-jdk-headless", time.Minute, installed("java"), startZooKeeper, zooKeeperAnswers}, nil
	case Nacos:
		return recipe{"http", "", "default-jdk-headless", 2 * time.Minute, installed("java"), startNacos, nacosAnswers}, nil
	}
	return recipe{}, fmt.Errorf("there is no broker %q: want brokers.NATS, Redis, Mosquitto, RabbitMQ, Etcd, Consul, ZooKeeper or Nacos", string(kind))
}
