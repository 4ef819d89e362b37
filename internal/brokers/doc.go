// Package brokers starts real message brokers for tests and benchmarks: nats-server, redis-server, mosquitto and
// rabbitmq-server, each as a process of its own on free loopback ports with its files in one folder.
//
//	server := brokers.ForTest(t, brokers.Redis) // ends with the test
//	server.URL()                                // redis://127.0.0.1:port
//	server.Kill()                               // SIGKILL, as a crash
//	server.Restart()                            // the same port and files
//
// nats-server is built from the version in this module's go.mod, which needs the go command and takes some seconds the
// first time. The others must be installed: ForTest skips the test where they are not, or fails it where the variable
// SABIR_TEST_ALL is set, as it should be in continuous integration.
//
// Brokers do not outlive the process that started them, even if that is killed: on Linux the kernel sees to it (prctl(2),
// PR_SET_PDEATHSIG), elsewhere only Close does. The package is for Unix systems.
package brokers
