package meta

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/sabir-go/sabir/actor"
)

// Command is a command of the operating system that runs beside a process, as a port does in Erlang.
type Command struct {
	Path string   // of the program; one without a slash is looked for in PATH
	Args []string // without the program's name
	Dir  string   // that it runs in; "" for this process's
	Env  []string // "NAME=value" of all its variables; nil for those of this process

	// To is the process that gets the messages; the zero PID for the one that starts the command.
	To actor.PID
	// Chunks makes Outputs of what is read at once, in any pieces. Else they are lines, without their end.
	Chunks bool
	// MaxLine bounds an Output, in bytes: a longer line comes in pieces. 64 KiB where it is 0.
	MaxLine int
	// Window bounds the messages that wait for the receiver before nothing more is read; the command then waits as soon as its
	// pipe is full. 256 where it is 0.
	Window int
	// Grace is the time that the command may go on after it was asked to end (SIGTERM, on Unix), when its process ends. 0: it is
	// killed at once.
	Grace time.Duration
}

// Output is something that a command has written.
type Output struct {
	Command actor.PID
	Stderr  bool // else it was stdout
	Bytes   []byte
	Cut     bool // the line is longer, and goes on in the next Output of the same stream
}

// Exited reports that a command has ended. It comes after all its output.
type Exited struct {
	Command actor.PID
	Code    int    // 0 to 255; -1 when it was ended by a signal
	State   string // in words, such as "exit status 3" or "signal: killed"
}

// Input can be sent to a command: Bytes are written to its stdin, which Close closes after them.
type Input struct {
	Bytes []byte
	Close bool
}

const defaultMaxLine = 64 << 10

// Start starts the command and a meta process for it, which is the Command of its messages: send it Inputs. When that process
// ends, or its owner, the command is killed with all that it has started and that has not left its process group; when the
// command ends, so does the process. An Input waits while the command does not read, and those after it with it; 1024 may.
//
// The command is not killed when this program is; it then finds its stdin closed.
func (c Command) Start(from actor.Sender, spawn ...actor.SpawnConfig) (actor.PID, error) {
	if c.To.Zero() {
		if c.To = owner(from); c.To.Zero() {
			return actor.PID{}, errors.New("meta: a command that a system starts needs To, who gets its messages")
		}
	}
	if c.MaxLine < 0 || c.Window < 0 || c.Grace < 0 {
		return actor.PID{}, fmt.Errorf("meta: MaxLine(%d), Window(%d) and Grace(%s) must not be negative", c.MaxLine, c.Window, c.Grace)
	}
	if c.MaxLine == 0 {
		c.MaxLine = defaultMaxLine
	}
	if c.Window == 0 {
		c.Window = defaultWindow
	}
	r, err := c.run()
	if err != nil {
		return actor.PID{}, fmt.Errorf("meta: the command %q could not be started: %w", c.Path, err)
	}
	r.by = owner(from)
	spawn = append([]actor.SpawnConfig{{Mailbox: 1024}}, spawn...)
	pid, err := Start(from, "command", Device[Input]{Run: r.wait, Handle: r.input}, spawn...)
	if err != nil {
		r.abandon()
	}
	return pid, err
}

// running is a command that runs.
type running struct {
	Command
	cmd                   *exec.Cmd
	stdin, stdout, stderr *os.File
	by                    actor.PID // the owner
}

func (c Command) run() (*running, error) {
	r := &running{Command: c, cmd: exec.Command(c.Path, c.Args...)}
	r.cmd.Dir, r.cmd.Env = c.Dir, c.Env
	ownGroup(r.cmd)
	// Files opened here: with pipes of package exec, Wait waits for all processes that have the other ends.
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	pipe := func(writing bool) (ours, other *os.File, err error) {
		ours, other, err = os.Pipe()
		if writing {
			ours, other = other, ours
		}
		if err == nil {
			theirs = append(theirs, other)
		}
		return ours, other, err
	}
	in, err1 := assign(pipe, true, &r.stdin)
	out, err2 := assign(pipe, false, &r.stdout)
	errs, err3 := assign(pipe, false, &r.stderr)
	err := errors.Join(err1, err2, err3)
	if err == nil {
		r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = in, out, errs
		err = r.cmd.Start()
	}
	if err != nil {
		r.closePipes()
		return nil, err
	}
	return r, nil
}

func assign(pipe func(bool) (*os.File, *os.File, error), writing bool, ours **os.File) (*os.File, error) {
	mine, other, err := pipe(writing)
	*ours = mine
	return other, err
}

func (r *running) closePipes() {
	for _, f := range []*os.File{r.stdin, r.stdout, r.stderr} {
		if f != nil {
			f.Close()
		}
	}
}

// abandon ends a command that no process watches.
func (r *running) abandon() {
	killGroup(r.cmd)
	_ = r.cmd.Wait()
	r.closePipes()
}

// input runs as a callback: where the pipe is full, the process waits, but not longer than its owner runs.
func (r *running) input(p *actor.Process, in Input) error {
	for rest := in.Bytes; len(rest) > 0; {
		if err := r.stdin.SetWriteDeadline(time.Now().Add(inputSlice)); err != nil {
			return nil // it was closed
		}
		n, err := r.stdin.Write(rest)
		rest = rest[n:]
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if !r.by.Zero() && !p.System().Alive(r.by) {
				return actor.ErrShutdown
			}
		case err != nil:
			r.stdin.Close() // a command that does not read any more shows it by its end
			return nil
		}
	}
	if in.Close {
		r.stdin.Close()
	}
	return nil
}

// inputSlice is the time that a write to a full pipe waits before it checks whether it is still wanted.
const inputSlice = 100 * time.Millisecond

// wait reads the command's output and waits for its end.
func (r *running) wait(ctx context.Context, m Meta) error {
	defer r.closePipes()
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { r.end(ended) })
	defer stop()
	var reading sync.WaitGroup
	stdout, stderr := &output{file: r.stdout, ended: ended}, &output{file: r.stderr, ended: ended}
	reading.Go(func() { r.read(ctx, m, stdout, false) })
	reading.Go(func() { r.read(ctx, m, stderr, true) })
	err := r.cmd.Wait()
	close(ended)
	killGroup(r.cmd) // what it has left behind
	stdout.bound()
	stderr.bound()
	reading.Wait()
	if err != nil && r.cmd.ProcessState == nil {
		return err
	}
	state := r.cmd.ProcessState
	_ = Deliver(ctx, m.System, r.To, r.Window, Exited{m.PID, state.ExitCode(), state.String()}) // unless the receiver has ended
	return nil
}

// output reads from the pipe to which a command writes. A process that it has started and that has left its group may keep the pipe open, and may
// write to it, so after the command's end only what lies in the pipe is read.
type output struct {
	file  *os.File
	ended <-chan struct{}
	after int // bytes read since the end
}

const (
	// maxPipe is the most that a pipe holds.
	maxPipe = 1 << 20
	// lastRead is the time in which a read gets what lies in the pipe.
	lastRead = time.Second
)

func (o *output) Read(b []byte) (int, error) {
	select {
	case <-o.ended:
	default:
		return o.file.Read(b)
	}
	if o.after >= maxPipe {
		return 0, io.EOF
	}
	o.bound()
	n, err := o.file.Read(b)
	o.after += n
	return n, err
}

// bound ends a read that waits for more than the pipe holds.
func (o *output) bound() { _ = o.file.SetReadDeadline(time.Now().Add(lastRead)) } // unless it is closed

// end ends the command: it is asked to, and after the grace it is killed.
func (r *running) end(ended chan struct{}) {
	if r.Grace > 0 {
		askGroup(r.cmd)
		select {
		case <-ended:
		case <-time.After(r.Grace):
		}
	}
	killGroup(r.cmd)
	r.closePipes() // which ends the reading, even if other processes hold the other ends
}

// read sends the output from one of the pipes. When the receiver has ended it goes on reading, so that the command does not
// wait for ever.
func (r *running) read(ctx context.Context, m Meta, pipe *output, stderr bool) {
	in := bufio.NewReaderSize(pipe, max(r.MaxLine, 16))
	for {
		piece, cut, err := r.piece(in)
		if err == nil || len(piece) > 0 {
			_ = Deliver(ctx, m.System, r.To, r.Window, Output{m.PID, stderr, bytes.Clone(piece), cut})
		}
		if err != nil {
			return
		}
	}
}

// piece reads the bytes of one Output. They are valid until the next call.
func (r *running) piece(in *bufio.Reader) (piece []byte, cut bool, err error) {
	if r.Chunks {
		if _, err := in.Peek(1); err != nil {
			return nil, false, err
		}
		piece, _ := in.Peek(min(in.Buffered(), r.MaxLine))
		_, err := in.Discard(len(piece))
		return piece, false, err
	}
	piece, err = in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return piece, true, nil
	case err == nil:
		piece = bytes.TrimSuffix(piece[:len(piece)-1], []byte("\r"))
	case len(piece) > 0 && errors.Is(err, io.EOF): // the last line has no end
	}
	return piece, false, err
}
