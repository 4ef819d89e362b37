package dubbo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/accept"
	"github.com/sabir-go/sabir/internal/httpstrict"
)

const (
	maxOperators  = 64   // connections
	maxCommand    = 2048 // bytes of a line
	operatorIdle  = 5 * time.Minute
	operatorLimit = 10 * time.Second // to write an answer
	welcomeAfter  = 500 * time.Millisecond
	prompt        = "dubbo>"
)

// qos takes Dubbo's commands to operators, by telnet and by HTTP: the first byte says which.
type qos struct {
	bridge   *bridge
	listener net.Listener
	http     *http.Server
	conns    *handed

	mu   sync.Mutex
	open map[net.Conn]struct{}
}

// listenQoS takes the address.
func listenQoS(ctx context.Context, b *bridge) (*qos, error) {
	at, err := url.Parse("qos://" + b.QoS)
	if err != nil || at.Port() == "" {
		return nil, fmt.Errorf("dubbo.Config: QoS %q: want an address such as \":22222\"", b.QoS)
	}
	bound, err := b.addressOf(ctx, at)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", bound.String())
	if err != nil {
		return nil, err
	}
	q := &qos{bridge: b, listener: l, conns: newHanded(l.Addr()), open: make(map[net.Conn]struct{})}
	q.http = &http.Server{Handler: q, ReadTimeout: operatorLimit, WriteTimeout: operatorLimit, MaxHeaderBytes: maxHead,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	return q, nil
}

func (q *qos) start() {
	q.bridge.running.Go(func() { _ = httpstrict.Serve(q.http, q.conns) }) // its error says that it was stopped
	q.bridge.running.Go(q.accept)
}

func (q *qos) accept() {
	failures := accept.NewFailures(q.bridge.node.Log(), q.listener.Addr().String(), "operators of Dubbo")
	for {
		c, err := q.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			failures.Pause(err, q.bridge.ctx.Done())
			continue
		}
		failures.Accepted()
		if !q.add(c) {
			c.Close()
			continue
		}
		q.bridge.running.Go(func() { q.serve(c) })
	}
}

func (q *qos) add(c net.Conn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.open) >= maxOperators || q.bridge.ctx.Err() != nil {
		return false
	}
	q.open[c] = struct{}{}
	return true
}

func (q *qos) close() {
	q.listener.Close()
	_ = q.http.Close() // of connections that end in any case
	q.conns.Close()
	q.mu.Lock()
	defer q.mu.Unlock()
	for c := range q.open {
		c.Close()
	}
}

// operator is a connection that counts until it is closed.
type operator struct {
	net.Conn
	qos    *qos
	reader *bufio.Reader
}

// Read implements net.Conn.
func (o *operator) Read(to []byte) (int, error) { return o.reader.Read(to) }

// Close implements net.Conn.
func (o *operator) Close() error {
	o.qos.mu.Lock()
	delete(o.qos.open, o.Conn)
	o.qos.mu.Unlock()
	return o.Conn.Close()
}

// serve serves a connection. One that says nothing at first is a person's, who gets the prompt.
func (q *qos) serve(c net.Conn) {
	o := &operator{c, q, bufio.NewReaderSize(c, maxCommand)}
	o.SetReadDeadline(time.Now().Add(welcomeAfter))
	first, err := o.reader.Peek(1)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if o.say(prompt) != nil {
			return
		}
		o.SetReadDeadline(time.Now().Add(operatorIdle))
		first, err = o.reader.Peek(1)
	}
	switch {
	case err != nil:
		o.Close()
	case first[0] == 'G' || first[0] == 'P':
		o.SetReadDeadline(time.Time{})
		q.conns.hand(o)
	default:
		defer o.Close()
		o.talk()
	}
}

// say writes a text. Where it cannot, the connection is closed.
func (o *operator) say(text string) error {
	o.SetWriteDeadline(time.Now().Add(operatorLimit))
	_, err := io.WriteString(o, text)
	if err != nil {
		o.Close()
	}
	return err
}

// interrupt are the bytes that telnet sends for Ctrl+C.
var interrupt = []byte{0xff, 0xf4}

// talk takes commands line by line, until quit.
func (o *operator) talk() {
	for {
		o.SetReadDeadline(time.Now().Add(operatorIdle))
		line, err := o.reader.ReadSlice('\n')
		if err != nil || bytes.Contains(line, interrupt) || bytes.HasPrefix(line, []byte{3}) {
			return
		}
		words := strings.Fields(string(line))
		answer := ""
		if len(words) > 0 {
			known := false
			if words[0] == "quit" {
				o.say("BYE!\n")
				return
			}
			if answer, known = o.qos.run(words[0], words[1:]); !known {
				answer = strings.ToValidUTF8(words[0], "?") + " :no such command"
			}
			answer += "\r\n"
		}
		if o.say(answer+prompt) != nil {
			return
		}
	}
}

// ServeHTTP implements http.Handler: the path is the command, what is behind it or in the query its argument. Pages of other sites, which a
// browser on this machine would let send such requests, get nothing.
func (q *qos) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	r.Body = http.MaxBytesReader(w, r.Body, maxCommand)
	name, argument, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		http.Error(w, "want GET or POST", http.StatusMethodNotAllowed)
		return
	case r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" && r.Header.Get("Sec-Fetch-Site") != "none" || !q.bridge.Open && !isAddress(r.Host):
		http.Error(w, "pages of other sites may send no commands", http.StatusForbidden)
		return
	case r.ParseForm() != nil:
		http.Error(w, "the arguments cannot be read", http.StatusBadRequest)
		return
	}
	var arguments []string
	if argument != "" {
		arguments = append(arguments, argument)
	}
	for _, values := range r.Form {
		arguments = append(arguments, values...)
	}
	answer, known := q.run(name, arguments)
	if !known {
		http.Error(w, "no such command", http.StatusNotFound)
		return
	}
	io.WriteString(w, answer) // an error means that the caller is gone
}

// isAddress reports whether a Host is an address in numbers or localhost: a name that an attacker has may lead anywhere.
func isAddress(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || host == "localhost"
}

// commands are those that there are, and what they do.
var commands = [][2]string{{"help", "help command"}, {"ls", "ls service"}, {"offline", "offline dubbo"}, {"online", "online app addresses"}, {"quit", "quit telnet console"}}

// run runs a command.
func (q *qos) run(name string, arguments []string) (answer string, known bool) {
	switch name {
	case "ls":
		return q.list(), true
	case "online", "offline":
		return q.switchTo(name == "offline", arguments), true
	case "help":
		return help(arguments), true
	case "quit":
		return "BYE!", true
	}
	return "", false
}

// list shows the interfaces that are served and called.
func (q *qos) list() string {
	provided := [][2]string{{"Provider Service Name", "PUB"}}
	for _, m := range q.bridge.config.served() {
		state := "Y"
		if m.offline.Load() || !q.bridge.open.Load() {
			state = "N"
		}
		provided = append(provided, [2]string{m.serviceKey(), state})
	}
	numbers := make(map[string]int)
	for _, p := range q.bridge.list() {
		for _, m := range p.interfaces() {
			if at := p.session.Load(); at != nil && !(*at).stops() {
				numbers[m.serviceKey()]++
			} else {
				numbers[m.serviceKey()] += 0
			}
		}
	}
	consumed := [][2]string{{"Consumer Service Name", "NUM"}}
	for key, number := range numbers {
		consumed = append(consumed, [2]string{key, fmt.Sprint(number)})
	}
	for _, rows := range [][][2]string{provided, consumed} {
		slices.SortFunc(rows[1:], func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	}
	return "As Provider side:\n" + drawTable(provided) + "As Consumer side:\n" + drawTable(consumed)
}

// served lists the interfaces, each once.
func (c *config) served() (list []*mapping) {
	for _, e := range c.serve {
		for _, m := range e.interfaces {
			if !slices.ContainsFunc(list, func(other *mapping) bool { return other.serviceKey() == m.serviceKey() }) {
				list = append(list, m)
			}
		}
	}
	return list
}

// drawTable draws rows of two cells, in the middle of their columns.
func drawTable(rows [][2]string) string {
	var width [2]int
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	line := "+" + strings.Repeat("-", width[0]) + "+" + strings.Repeat("-", width[1]) + "+\n"
	var b strings.Builder
	b.WriteString(line)
	for _, row := range rows {
		for i, cell := range row {
			left := (width[i] - len(cell)) / 2
			b.WriteString("|" + strings.Repeat(" ", left) + cell + strings.Repeat(" ", width[i]-len(cell)-left))
		}
		b.WriteString("|\n" + line)
	}
	return b.String()
}

// help lists the commands, or tells about one.
func help(arguments []string) string {
	var rows [][2]string
	for _, c := range commands {
		switch {
		case len(arguments) == 0:
			rows = append(rows, c)
		case arguments[0] == c[0]:
			rows = append(rows, [2]string{"COMMAND NAME", c[0]}, [2]string{"EXAMPLE", c[0]})
		}
	}
	if rows == nil {
		return "no such command:" + strings.ToValidUTF8(arguments[0], "?")
	}
	return drawTable(rows)
}
