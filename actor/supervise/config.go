package supervise

import (
	"cmp"
	"math"
	"time"

	"github.com/sabir-go/sabir/actor"
)

// Config sets how a supervisor treats its children.
type Config struct {
	// Name is the name under which the supervisor is registered on its node; "" for none.
	Name string
	// Strategy sets the children that are restarted when one has failed: "one-for-one", that one; "all-for-one", all, where the others are
	// ended before, the last one first; or "rest-for-one", it and those that were started after it. Default: "one-for-one", which dynamic
	// supervisors always have.
	Strategy string
	// Intensity is the number of restarts permitted within Period: one more, and the supervisor ends all its children and then
	// itself, with ErrRestartIntensity. An attempt to restart that fails counts too. 0 is 1, and -1 none: it ends with the first
	// failure.
	Intensity int
	// Period is 5 s where it is 0.
	Period time.Duration
	// AllSignificant has the supervisor end when none of its significant children runs any more. Default: it ends with the first of them;
	// see Child.Significant.
	AllSignificant bool
	// Ended, if it is not nil, is called in a callback of the supervisor when a child has ended by itself and is not restarted:
	// not where the supervisor has sent it an exit or is about to end. It must not wait for anything, nor call the supervisor.
	Ended func(p *actor.Process, id string, child actor.PID, reason error)
}

// The defaults of Config, as in OTP.
const (
	defaultIntensity = 1
	defaultPeriod    = 5 * time.Second
)

// The words of Config.Strategy.
const (
	oneForOne  = "one-for-one"
	allForOne  = "all-for-one"
	restForOne = "rest-for-one"
)

// Child is a child of a supervisor.
type Child struct {
	// ID names it within its supervisor.
	ID string
	// Start is the process to start. In Dynamic it stays empty.
	Start actor.Spec
	// Restart sets whether it is restarted when it has ended: "permanent", always; "transient", unless the reason is actor.ErrNormal or
	// actor.ErrShutdown; or "temporary", never, and its supervisor forgets it. Default: "permanent".
	Restart string
	// Shutdown bounds the time that it may take to end when the supervisor sends it actor.ErrShutdown, before it is killed.
	// Default: 5 s, and as long as it takes for supervisors; -1 kills it at once.
	Shutdown time.Duration
	// Significant has its supervisor end, with actor.ErrShutdown, when the child has ended by itself and is not restarted. It cannot be
	// permanent then. See Config.AllSignificant.
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

// The words of Child.Restart.
const (
	permanent = "permanent"
	transient = "transient"
	temporary = "temporary"
)

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
	c.Strategy = cmp.Or(c.Strategy, oneForOne)
	switch {
	case c.Period < 0:
		return c, problem(errSupervisorConfig, "Period is %s: want a positive time", c.Period)
	case c.Strategy != oneForOne && c.Strategy != allForOne && c.Strategy != restForOne:
		return c, problem(errSupervisorConfig, "Strategy is %q: want %q, %q or %q", c.Strategy, oneForOne, allForOne, restForOne)
	}
	return c, nil
}

// complete puts in what is meant by zeros.
func (c Child) complete() (Child, error) {
	c.Restart = cmp.Or(c.Restart, permanent)
	switch {
	case c.Restart != permanent && c.Restart != transient && c.Restart != temporary:
		return c, problem(errSupervisorConfig, "Restart of child %q is %q: want %q, %q or %q", c.ID, c.Restart, permanent, transient, temporary)
	case c.Shutdown < brutal:
		return c, problem(errSupervisorConfig, "child %q has shutdown %s", c.ID, c.Shutdown)
	case c.Significant && c.Restart == permanent:
		return c, problem(errSupervisorConfig, "child %q is permanent, so it is always restarted and cannot be significant", c.ID)
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
