package transporttest

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/transport"
)

// BusServer is a real broker that tests can stop and start. *brokers.Server is one.
type BusServer interface {
	// URL is the address to connect to, with a user and a password that the broker demands.
	URL() string
	// Kill ends the broker as a crash does. Restart runs it again at the same address and returns when it answers.
	Kill() error
	Restart() error
	// Suspend has the broker stand still, with its connections open, until Resume.
	Suspend() error
	Resume() error
}

// Bus runs the conformance suite of the [transport.Bus] shape against a broker, which it kills and restarts several
// times. The transport must be registered. The broker must demand a password. The config must be good to connect with, and
// serves the tests of refusals without its key and its certificates.
func Bus(t *testing.T, server BusServer, config transport.Config) {
	if at, err := url.Parse(server.URL()); err != nil {
		t.Fatal(err)
	} else if password, _ := at.User.Password(); len(password) < 4 {
		t.Fatalf("the broker at %s demands no password of 4 letters or more, so that nothing can be said of wrong ones", at.Redacted())
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T, *busTest)
	}{
		{"each subscriber gets its own copy of a message", everySubscriber},
		{"a publisher gets its own messages where it subscribes", ownMessages},
		{"a subscription holds from the moment Subscribe returns", subscribedAtOnce},
		{"subjects are kept apart", subjectsApart},
		{"messages of a publisher arrive in order and once", messagesInOrder},
		{"messages of many goroutines arrive, each one's in order", manyPublishers},
		{"deliveries of a subject come one at a time", oneDeliveryAtATime},
		{"messages of all sizes arrive intact", messageSizes},
		{"a message that is too large is refused and does no harm", messageTooLarge},
		{"published data is the caller's again", dataIsCallers},
		{"delivered data is the receiver's to keep", dataIsReceivers},
		{"a probe that nobody receives is reported", probeWithoutSubscriber},
		{"a probe that somebody receives is not reported", probeWithSubscriber},
		{"probes and other messages keep one order", probesInOrder},
		{"a subject whose only subscriber left is unheard", probeAfterLeaving},
		{"events come outside of the owner's calls", eventsOutside},
		{"nobody needs to listen to events", noEvents},
		{"a closed broker says so", closedBrokerErrors},
		{"what was published before close is handed over", closeHandsOver},
		{"no callback runs after close", closeEndsCallbacks},
		{"close may be called by many", closeByMany},
		{"connecting where nobody listens is refused", connectWithoutBroker},
		{"connecting ends with its context", connectCancelled},
		{"connecting to one that says nothing ends in time", connectSilent},
		{"a wrong password is an error that does not tell it", wrongPassword},
		{"addresses with parts that mean nothing are refused", strangeBrokers},
		{"the address can be given to others", brokerAddress},
		{"a broker elsewhere is refused without proof", brokerElsewhere},
		{"subscribing ends with its context", subscribeCancelled},
		{"a killed broker that comes back is connected to again", outage},
		{"messages around an outage arrive in order, at most once", orderAroundOutage},
		{"publishing without a broker neither waits nor piles up", publishDuringOutage},
		{"subscribing during an outage ends with its context and can be tried again", subscribeDuringOutage},
		{"closing during an outage is quick", closeDuringOutage},
		{"a broker that stands still holds publishers up, and close ends that", brokerStandsStill},
		{"messages go on after a broker stood still", brokerGoesOn},
	} {
		t.Run(test.name, func(t *testing.T) {
			running := goleak.IgnoreCurrent()
			broker := goleak.IgnoreAnyFunction("os/exec.(*Cmd).Wait") // for the end of one that was restarted
			t.Cleanup(func() { nothingLeft(t, running, broker) })
			test.run(t, &busTest{server, config, fmt.Sprintf("test.%x", rand.Uint64())})
		})
	}
}

// busTest is the broker of one test, and the subjects that it may use.
type busTest struct {
	BusServer
	config transport.Config
	prefix string // of the subjects of this test
}

func (s *busTest) subject(name string) string { return s.prefix + "." + name }

// connect joins the broker until the test ends.
func (s *busTest) connect(t *testing.T) *Member { return Join(t, s.URL(), s.config) }

func (s *busTest) connectWith(t *testing.T, events transport.BusEvents) transport.Broker {
	t.Helper()
	broker, err := Connect(t, s.URL(), s.config, events)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	return broker
}

// short is a message for an error.
func short(text string) string {
	if len(text) > 60 {
		return fmt.Sprintf("%q… of %d bytes", text[:60], len(text))
	}
	return fmt.Sprintf("%q", text)
}

// none fails where something has come.
func none[T any](t *testing.T, what string, from <-chan T) {
	t.Helper()
	select {
	case value := <-from:
		t.Errorf("%s: %v", what, value)
	default:
	}
}

// quick fails where a call takes longer than it may.
func quick(t *testing.T, what string, limit time.Duration, call func()) {
	t.Helper()
	begun := time.Now()
	call()
	if took := time.Since(begun); took > limit {
		t.Errorf("%s took %v, want %v at most", what, took, limit)
	}
}

// secret is the password of the broker's address.
func (s *busTest) secret() string {
	at, err := url.Parse(s.URL())
	if err != nil {
		return ""
	}
	password, _ := at.User.Password()
	return password
}

func (s *busTest) hidesSecret(t *testing.T, what, text string) {
	t.Helper()
	if strings.Contains(text, s.secret()) {
		t.Errorf("%s shows the password: %s", what, text)
	}
}
