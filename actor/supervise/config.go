package supervise

import (
	"fmt"
	"math"
	"time"

	"github.com/sabir-go/sabir/actor"
)

// Config sets how a supervisor treats its children.
type Config struct {
	// Name is the name under which the supervisor is registered on its node; "" for none.
	Name string
	// Strategy sets the children that are restarted together. Default: OneForOne. Dynamic supervisors are always OneForOne.
	Strategy Strategy
	// Intensity is the number of restarts permitted within Period: one more, and the supervisor ends all its children and then
	// itself, with ErrRestartIntensity. An attempt to restart that fails counts too. 0 is 1, and -1 none: it ends with the first
	// failure.
	Intensity int
	// Period is 5 s where it is 0.
	Period time.Duration
	// AutoShutdown sets whether the supervisor ends, with actor.ErrShutdown, when significant children have ended.
	AutoShutdown AutoShutdown
	// Ended, if it is not nil, is called in a callback of the supervisor when a child has ended by itself and is not restarted:
	// not where the supervisor has sent it an exit or is about to end. It must not wait for anything, nor call the supervisor.
	Ended func(p *actor.Process, id string, child actor.PID, reason error)
}

// The defaults of Config, as in OTP.
const (
	defaultIntensity = 1
	defaultPeriod    = 5 * time.Second
)

// Strategy determines the children that are restarted when one has failed.
type Strategy uint8

const (
	// OneForOne restarts the child that failed.
	OneForOne Strategy = iota
	// AllForOne ends all others, the last one first, and starts all in their order.
	AllForOne
	// RestForOne ends those that were started after the one that failed, the last one first, and starts it and them in their
	// order.
	RestForOne
)

// String is the strategy in words.
func (s Strategy) String() string { return word(int(s), "one-for-one", "all-for-one", "rest-for-one") }

// MarshalText is String, for JSON and the like.
func (s Strategy) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Strategy) UnmarshalText(text []byte) error {
	return read(s, text, OneForOne, AllForOne, RestForOne)
}

// AutoShutdown determines when a supervisor ends because its children have. Only those count that have Child.Significant, ended
// by themselves, and are not restarted. By default it never does.
type AutoShutdown uint8

const (
	never          AutoShutdown = iota // the zero value
	AnySignificant                     // with the first of them
	AllSignificant                     // when none of them runs any more
)

// Child is a child of a supervisor.
type Child struct {
	// ID names it within its supervisor.
	ID string
	// Start is the process to start. In Dynamic it stays empty.
	Start actor.Spec
	// Restart sets whether it is restarted. Default: Permanent.
	Restart Restart
	// Shutdown bounds the time that it may take to end when the supervisor sends it actor.ErrShutdown, before it is killed.
	// Default: 5 s, and as long as it takes for supervisors; -1 kills it at once.
	Shutdown time.Duration
	// Significant makes it count for Config.AutoShutdown. It cannot be Permanent then.
	Significant bool
}

// The bounds of Child.Shutdown.
const (
	brutal          time.Duration = -1
	infinity        time.Duration = math.MaxInt64
	defaultShutdown               = 5 * time.Second
)

// killTimeout is the time that a supervisor waits for the end of a child that it has killed: longer only if a callback of the
// child does not return, which nothing can end. The supervisor then logs that and goes on as if it had ended.
const killTimeout = 5 * time.Second

// Restart determines whether a child that has ended is restarted.
type Restart uint8

const (
	Permanent Restart = iota // always
	Transient                // unless the reason is actor.ErrNormal or actor.ErrShutdown
	Temporary                // never; the supervisor forgets it when it has ended
)

// String is the type in words.
func (r Restart) String() string { return word(int(r), "permanent", "transient", "temporary") }

// MarshalText is String, for JSON and the like.
func (r Restart) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (r *Restart) UnmarshalText(text []byte) error {
	return read(r, text, Permanent, Transient, Temporary)
}

func word(i int, words ...string) string {
	if i >= len(words) {
		return "unknown"
	}
	return words[i]
}

func read[T fmt.Stringer](into *T, text []byte, values ...T) error {
	for _, v := range values {
		if v.String() == string(text) {
			*into = v
			return nil
		}
	}
	return fmt.Errorf("supervise: no %T is called %q", *into, text)
}

// complete puts in what is meant by zeros.
func (c Config) complete() (Config, error) {
	switch {
	case c.Intensity == 0:
		c.Intensity = defaultIntensity
	case c.Intensity < 0:
		c.Intensity = 0
	}
	if c.Period == 0 {
		c.Period = defaultPeriod
	}
	if c.Period < 0 || c.Strategy > RestForOne || c.AutoShutdown > AllSignificant {
		return c, problem(errSupervisorConfig, "period %s, strategy %d, auto shutdown %d", c.Period, c.Strategy, c.AutoShutdown)
	}
	return c, nil
}

// complete puts in what is meant by zeros, for a child of a supervisor with the Config.
func (c Child) complete(of Config) (Child, error) {
	switch {
	case c.Restart > Temporary:
		return c, problem(errSupervisorConfig, "child %q has restart type %d", c.ID, c.Restart)
	case c.Shutdown < brutal:
		return c, problem(errSupervisorConfig, "child %q has shutdown %s", c.ID, c.Shutdown)
	case c.Significant && c.Restart == Permanent:
		return c, problem(errSupervisorConfig, "child %q is permanent, so it is always restarted and cannot be significant", c.ID)
	case c.Significant && of.AutoShutdown == never:
		return c, problem(errSupervisorConfig, "child %q is significant, but the supervisor never shuts down by itself", c.ID)
	}
	if c.Shutdown == 0 {
		c.Shutdown = defaultShutdown
		if supervises(c.Start.Behavior()) {
			c.Shutdown = infinity
		}
	}
	return c, nil
}

// supervises reports whether a behaviour is that of supervisors.
func supervises(behavior string) bool { return behavior == fixedName || behavior == dynamicName }

const (
	fixedName   = "supervisor"
	dynamicName = "supervisor.dynamic"
)
