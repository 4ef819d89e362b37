package mion

import (
	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/http/ask"
)

// contender is one server, whatever table it stands in.
type contender struct {
	name    string
	program *bench.Program
	module  string // whose version is shown
	says    string // its router and its validation, for the row's settings
	ours    bool
	limit   bool
	missing string // why it cannot run on any machine
	server  ask.Server

	// published is its figure in the main table of the published report, where autocannon makes the load.
	published string

	// lesser contenders are not in the groups that show the main ones only.
	lesser bool
	// codecOnly servers differ from another by their JSON library only, so hello and a cold start say nothing about them.
	codecOnly bool
}

// What rows say of their validation.
const (
	validates = "router, validates"
	byHand    = "no router, validates by hand"
	noRules   = "router, no validation"
)

// inGo is the program of a server in Go.
func inGo(folder string) *bench.Program { return bench.Go("http/servers/" + folder) }

// inNode is the program of a server in Node.
func inNode(file string) *bench.Program { return bench.Node("http", file) }

// Programs that several tables start.
var (
	sabirServer    = inGo("sabir")
	nethttpServer  = inGo("nethttp")
	humaServer     = inGo("huma")
	fasthttpServer = inGo("fasthttp")
)

const (
	fasthttpModule = "github.com/valyala/fasthttp"
	humaModule     = "github.com/danielgtaylor/huma/v2"
)

const notOnTheRegistry = "its packages are not on the npm registry: npm knows neither @mionkit/http and @mionkit/router nor @mionjs/core and mion; they can be had from source only"

// contenders in the order of the tables: Sabir and the limits, then the seed's rows in its order, then others.
var contenders = []contender{
	{name: "Sabir", program: sabirServer, ours: true, says: "router, validates, request ids, deadlines, limits"},
	{name: "Sabir's codec on fasthttp", program: inGo("fasthttp-sabir"), module: fasthttpModule, ours: true, lesser: true, codecOnly: true,
		says: "no router, validates; without Sabir's HTTP engine and node"},
	{name: "Go epoll", program: inGo("epoll"), limit: true, says: "one thread, hand-written; " + byHand},
	{name: "Go net, goroutine per connection", program: inGo("netfast"), limit: true, says: "hand-written; " + byHand},

	{name: "http-node", program: inNode("http-node.js"), server: lax, says: "no router, no validation",
		published: "19 241.3/s, 51.48 ms, 4.94 MB/s, 76 MB, 119% (Node 16.18.0)"},
	{name: "fastify, no schemas", program: inNode("fastify-no-schemas.js"), module: "fastify", lesser: true, server: lax, says: noRules,
		published: "16 267.9/s, 60.96 ms, 4.19 MB/s, 85 MB, 118% (4.19.2)"},
	{name: "fastify", program: inNode("fastify.js"), module: "fastify", says: validates + " (schemas, ajv)",
		published: "16 264.9/s, 60.96 ms, 4.19 MB/s, 89 MB, 121% (4.19.2)"},
	{name: "mion", missing: notOnTheRegistry, says: validates, published: "14 133.6/s, 70.25 ms, 3.92 MB/s, 180 MB, 138% (0.1.0); 0.73x of its http-node"},
	{name: "restify", program: inNode("restify.js"), module: "restify", lesser: true, server: lax, says: noRules,
		published: "12 121.0/s, 81.97 ms, 3.13 MB/s, 89 MB, 127% (8.6.1)"},
	{name: "mion, no serialization", missing: notOnTheRegistry, lesser: true, codecOnly: true, says: noRules,
		published: "11 112.6/s, 89.40 ms, 3.53 MB/s, 180 MB, 138% (0.1.0); 0.58x of its http-node"},
	{name: "mion on fastify", missing: notOnTheRegistry, lesser: true, codecOnly: true, says: validates,
		published: "10 587.0/s, 93.87 ms, 3.36 MB/s, 103 MB, 121% (0.1.0); 0.55x of its http-node"},
	{name: "hapi", program: inNode("hapi.js"), module: "@hapi/hapi", lesser: true, server: lax, says: noRules,
		published: "7 802.2/s, 127.51 ms, 2.00 MB/s, 92 MB, 126% (20.3.0)"},
	{name: "deepkit", program: inNode("deepkit.js"), module: "@deepkit/http", lesser: true,
		server:    ask.Server{Lets: []string{ask.Fraction, ask.NoDate}},
		says:      validates + ", but takes a fraction for an integer and a text that is no date for a date",
		published: "5 498.9/s, 181.02 ms, 1.41 MB/s, 296 MB, 143% (1.0.1-alpha.99)"},
	{name: "express", program: inNode("express.js"), module: "express", server: lax, says: noRules,
		published: "4 627.7/s, 215.09 ms, 1.19 MB/s, 111 MB, 126% (4.18.2)"},

	{name: "hono", program: inNode("hono.js"), module: "hono", says: validates + " (zod)"},
	{name: "tRPC", program: inNode("trpc.js"), module: "@trpc/server", lesser: true, says: validates + " (zod), its own envelope around answers"},
	{name: "uWebSockets.js", missing: "not on the npm registry: what is there are copies that others have built", lesser: true, codecOnly: true,
		says: "no router, no validation"},
	{name: "net/http", program: nethttpServer, says: validates + " (go-playground/validator), encoding/json"},
	{name: "net/http, segmentio JSON", program: inGo("nethttp-segmentio"), module: "github.com/segmentio/encoding", lesser: true, codecOnly: true,
		says: validates + " (go-playground/validator)"},
	{name: "fasthttp", program: fasthttpServer, module: fasthttpModule,
		says: "no router, validates (go-playground/validator), encoding/json"},
	{name: "fasthttp, sonic", program: inGo("fasthttp-sonic"), module: fasthttpModule, codecOnly: true,
		says: "no router, validates (go-playground/validator), github.com/bytedance/sonic"},
	{name: "gin", program: inGo("gin"), module: "github.com/gin-gonic/gin", says: validates + " (its binding)"},
	{name: "huma", program: humaServer, module: humaModule, says: validates + " (its JSON Schemas), default configuration"},
	{name: "hertz", program: inGo("hertz"), module: "github.com/cloudwego/hertz", says: validates + " (go-playground/validator), sonic"},
	{name: "fiber", program: inGo("fiber"), module: "github.com/gofiber/fiber/v2", says: validates + " (go-playground/validator), encoding/json"},
	{name: "fiber, sonic", program: inGo("fiber-sonic"), module: "github.com/gofiber/fiber/v2", codecOnly: true,
		says: validates + " (go-playground/validator), github.com/bytedance/sonic"},
	{name: "connect-go, JSON", program: inGo("connect"), module: "connectrpc.com/connect", lesser: true,
		says:   "router, validates by hand, protobuf's JSON at addresses of its own",
		server: ask.Server{Hello: "/lab.Users/Hello?connect=v1&encoding=json&message=%7B%7D", Update: "/lab.Users/UpdateUser"}},
}

// lax servers do not validate.
var lax = ask.Server{Lax: true}

// row returns the fields that the contender's row has in every table.
func (c contender) row(group string) bench.Row {
	return bench.Row{Name: c.name, Group: group, Ours: c.ours, Limit: c.limit, Settings: c.says, Module: c.module, Missing: c.missing}
}
