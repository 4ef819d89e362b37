package moleculer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// The programs of calls between two nodes.
var (
	remoteGo   = bench.Go("remote")
	remoteNode = bench.Node("moleculer", "child.js")
)

// manyCallers call at once in the groups that are not the report's.
const manyCallers = 100

// How long one measurement of these tables takes in a quick run; in a whole one it is as the plan has it.
const remoteQuick = 100 * time.Millisecond

// way is the transport over which two nodes meet.
type way struct {
	name   string       // for the reader
	broker brokers.Kind // "" where there is none
	fake   bool         // both nodes in one process
	scheme string       // of Sabir's addresses, where there is no broker
}

var (
	fake = way{name: "Fake", fake: true, scheme: "mem://"}
	tcp  = way{name: "TCP", scheme: "tcp://"}
	nats = way{name: "NATS", broker: brokers.NATS}
	amqp = way{name: "AMQP", broker: brokers.RabbitMQ}
)

// remote is a contender that calls between two nodes.
type remote struct {
	bench.Row
	key      string // as the programs call it
	program  *bench.Program
	over     way
	scheme   string // before host and port
	tracking bool
}

// remoteSettings is the Extra of an order, as program remote and the peers of Node read it.
type remoteSettings struct {
	Cluster  string `json:"cluster"`
	Tracking bool   `json:"tracking"`
}

func remoteColumns() []bench.Column {
	return []bench.Column{
		{Key: "rate", Title: "calls/s", Unit: bench.PerSecond},
		{Key: "mean", Title: "mean", Unit: bench.Duration, Less: true},
		{Key: "p50", Title: "p50", Unit: bench.Duration, Less: true},
		{Key: "p99", Title: "p99", Unit: bench.Duration, Less: true},
		{Key: "cpu", Title: "CPU per call", Unit: bench.Duration, Less: true},
		{Key: "memory", Title: "memory", Unit: bench.Bytes, Less: true},
	}
}

func remoteMoleculer(over way, published string) remote {
	return remote{Row: bench.Row{Name: "Moleculer", Module: "moleculer", Published: published}, key: "moleculer", program: remoteNode, over: over}
}

func remoteSabir(over way) remote {
	return remote{Row: bench.Row{Name: "Sabir", Ours: true}, key: "sabir", program: remoteGo, over: over, scheme: over.scheme}
}

func rawEcho() remote {
	return remote{Row: bench.Row{Name: "Raw Go TCP echo", Limit: true, Settings: "a connection for each caller"}, key: "raw", program: remoteGo, over: tcp}
}

// barely is the echo by the client of a broker alone, which Sabir uses as well.
func barely(over way, client, module, settings string) remote {
	return remote{Row: bench.Row{Name: "Raw echo, " + client, Limit: true, Module: module, Settings: settings}, key: string(over.broker),
		program: remoteGo, over: over}
}

// batched is the limit that sends the payloads of several callers together.
func (r remote) batched() remote {
	r.Name += ", batched"
	r.key += ", batched"
	r.Settings = "what waits goes together"
	return r
}

// called gives the row another name.
func (r remote) called(name string) remote { r.Name = name; return r }

// in is the contender's row in a group with so many callers. Its processes are those of its rows in other groups.
func (r remote) in(group string, callers int, all *shared) bench.Row {
	row := r.Row
	row.Group, row.Needs = group, []*bench.Program{r.program}
	if callers != 1 {
		row.Published = ""
	}
	key := fmt.Sprintf("%s %s %t", r.key, r.over.name, r.tracking)
	row.Open = func(ctx context.Context, e *bench.Env) (bench.Runner, error) {
		return all.row(key, fmt.Sprintf("callers %d", callers), func() (bench.Runner, []*bench.Process, error) { return r.open(ctx, e) })
	}
	return row
}

// open starts the processes; those that count besides are the broker's.
func (r remote) open(ctx context.Context, e *bench.Env) (bench.Runner, []*bench.Process, error) {
	extra, err := json.Marshal(remoteSettings{fmt.Sprintf("lab-%x", time.Now().UnixNano()), r.tracking})
	if err != nil {
		return nil, nil, err
	}
	o := child.Order{Role: "process", Row: r.key, Address: r.scheme + "fake", Callers: manyCallers, Extra: extra}
	if r.over.fake {
		runner, err := bench.Children(ctx, bench.Child(r.program, o, bench.Unpinned))
		return runner, nil, err
	}
	var more []*bench.Process
	if r.over.broker != "" {
		server, process, err := e.Broker(r.over.broker)
		if err != nil {
			return nil, nil, err
		}
		o.Address, more = server.URL(), []*bench.Process{process}
	} else {
		address, err := brokers.FreeAddress("tcp")
		if err != nil {
			return nil, nil, err
		}
		o.Address = r.scheme + address
	}
	server, client := o, o
	server.Role, client.Role = "server", "client"
	runner, err := bench.Children(ctx, bench.Child(r.program, server, bench.Unpinned), bench.Child(r.program, client, bench.Unpinned))
	return runner, more, err
}

const (
	oneCaller = "1 caller"
	together  = "100 callers"
)

const aboutEcho = "One operation is a call of an action in another node, which answers with what it was given: 10 bytes, other ones for each call, " +
	"and every answer is compared with what was sent. Sabir sends them as a field of bytes in its own format; the peers of Node send " +
	"`{\"a\":1234}` as JSON. "

func remoteTables() []bench.Table {
	return []bench.Table{remoteCall(), fakeTransporter(), transporters()}
}

func remoteCall() bench.Table {
	peer := func(name, key, module, settings, published string, over way) remote {
		return remote{Row: bench.Row{Name: name, Module: module, Settings: settings, Published: published}, key: key, program: remoteNode, over: over}
	}
	contenders := []remote{
		remoteMoleculer(tcp, "10 445/s, 95 µs").called("Moleculer, TCP"),
		remoteMoleculer(nats, "").called("Moleculer, NATS"),
		peer("Hemera, NATS", "hemera", "sabir-lab-hemera/node_modules/nats-hemera", "with nats 1.2, which it wants", "6 655/s, 150 µs", nats),
		peer("Cote", "cote", "cote", "finds its peers by broadcast", "15 442/s, 64 µs", tcp),
		peer("Seneca, TCP", "seneca", "seneca", "", "2 947/s, 339 µs, over NATS", tcp),
		remoteSabir(tcp).called("Sabir, TCP"),
		remoteSabir(nats).called("Sabir, NATS"),
		rawEcho(),
	}
	var rows []bench.Row
	all := new(shared)
	for _, group := range []struct {
		name    string
		callers int
	}{{oneCaller, 1}, {together, manyCallers}} {
		for _, c := range contenders {
			rows = append(rows, c.in(group.name, group.callers, all))
		}
		if group.callers != 1 {
			rows = append(rows, rawEcho().batched().in(group.name, group.callers, all))
		}
	}
	return bench.Table{Name: "remote-call", Title: "Call remote actions",
		About: aboutEcho + "The nodes are two processes. One caller calls again when it has its answer, as in the report; 100 do so at once in the " +
			"second group; " +
			"there Sabir, and one of the limits, send the payloads of several callers together. **The published figures are of one process** that was both nodes, and added two numbers. CPU and memory are " +
			"those of both nodes and of the broker.",
		Columns: remoteColumns(), Rows: rows, Quick: remoteQuick}
}

func fakeTransporter() bench.Table {
	var rows []bench.Row
	all := new(shared)
	for _, group := range []struct {
		name, published, settings string
		tracking                  bool
	}{
		{"without tracking", "42 409/s, 23 µs", "", false},
		{"with tracking", "45 739/s, 21 µs", "a service with a stop hook", true},
	} {
		theirs, ours := remoteMoleculer(fake, group.published), remoteSabir(fake)
		ours.Settings = group.settings
		for _, c := range []remote{theirs, ours, channels()} {
			c.tracking = group.tracking
			rows = append(rows, c.in(group.name, 1, all))
		}
	}
	return bench.Table{Name: "fake-transporter", Title: "Remote call with the fake transporter",
		About: aboutEcho + "Both nodes are in one process and know each other by a transport in memory: Moleculer's Fake, and Sabir's mem, over which " +
			"all goes as bytes, as between processes. Moleculer's Fake hands packets over as they are encoded, too. One caller calls again when it has its answer. With tracking a service that " +
			"is stopped waits for the calls in it; Sabir does so for services with a stop hook. The limit hands the bytes to another goroutine and back.",
		Columns: remoteColumns(), Rows: rows, Duration: localDuration, Quick: remoteQuick}
}

// channels are the limit where both nodes are in one process.
func channels() remote {
	return remote{Row: bench.Row{Name: "Go channels, there and back", Limit: true}, key: "channels", program: remoteGo, over: fake}
}

func transporters() bench.Table {
	redis := way{name: "Redis", broker: brokers.Redis}
	mqtt := way{name: "MQTT", broker: brokers.Mosquitto}
	var rows []bench.Row
	all := new(shared)
	for _, t := range []struct {
		over      way
		published string
		limit     remote
	}{
		{fake, "40 182/s, 24 µs", channels()},
		{nats, "8 182/s, 122 µs", barely(nats, "nats.go", "github.com/nats-io/nats.go", "")},
		{redis, "6 922/s, 144 µs", barely(redis, "rueidis", "github.com/redis/rueidis", "publish and subscribe")},
		{mqtt, "6 985/s, 143 µs", barely(mqtt, "paho.golang", "github.com/eclipse/paho.golang", "QoS 0")},
		{tcp, "10 639/s, 93 µs", rawEcho()},
		{amqp, "", barely(amqp, "amqp091-go", "github.com/rabbitmq/amqp091-go", "no acknowledgements")},
	} {
		for _, callers := range []int{1, manyCallers} {
			group := t.over.name
			if callers != 1 {
				group += ", " + together
			}
			theirs := remoteMoleculer(t.over, t.published)
			if t.over == amqp {
				theirs.Settings = "prefetch: 100, noDelay: true; its defaults take 40 ms for a call"
			}
			contenders := []remote{theirs, remoteSabir(t.over), t.limit}
			if callers != 1 && t.over != fake {
				contenders = append(contenders, t.limit.batched())
			}
			for _, c := range contenders {
				row := c.in(group, callers, all)
				rows = append(rows, row)
			}
		}
	}
	return bench.Table{Name: "transporters", Title: "Transport with 10 bytes",
		About: aboutEcho + "Fake is both nodes in one process, Sabir's transport mem. With the others the nodes are two processes, and the broker is a " +
			"third; **the published figures are of one process** that was both nodes. One caller calls again when it has its answer, as in " +
			"the report, or 100 do so at once. The limits are the bare clients of the brokers that Sabir uses too: with a message for each " +
			"payload, which a contender that sends several in a message, as Sabir does, can beat; and with all that wait in one message. CPU and memory are those of both nodes and " +
			"of the broker.",
		Columns: remoteColumns(), Rows: rows, Quick: remoteQuick}
}
