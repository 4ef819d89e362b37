package docs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-playground/validator/v10"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor/grain/store"
	_ "github.com/sabir-go/sabir/actor/grain/store/kubernetes"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/policy/rediscache"
	"github.com/sabir-go/sabir/transport/tcp"
	"github.com/sabir-go/sabir/validate"
	"github.com/sabir-go/sabir/validate/playground"
)

// The code of the guides. What needs another machine is a function that compiles and is not called; the rest runs.

var silent = sabir.Logger(slog.New(slog.DiscardHandler))

// startFor starts a node for a test.
func startFor(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	node := sabir.NewNode(append(options, silent)...)
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Stop(context.Background()) })
	return node
}

// services.md

type GetUser struct {
	ID string `json:"id"`
}

type UserInfo struct {
	ID string `json:"id"`
}

type Tail struct {
	File string `json:"file"`
}

type Line struct {
	Text string `json:"text"`
}

type OrderEvent struct {
	ID int `json:"id"`
}

func TestBufferLimitsOfTheGuide(t *testing.T) {
	// doc: buffer-limits
	node := sabir.NewNode(sabir.Limits{NodeBuffers: 256 << 20, ConnectionBuffers: 64 << 20}) // bytes in the whole node, and of one connection
	// end
	if err := errors.Join(node.Start(t.Context()), node.Stop(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func TestServicesOfTheGuide(t *testing.T) {
	ctx := t.Context()
	var steps []string
	connect := func(context.Context) error { steps = append(steps, "connect"); return nil }
	disconnect := func(context.Context) error { return nil }
	getUser := func(_ context.Context, in GetUser) (UserInfo, error) { return UserInfo(in), nil }
	db := sabir.NewService("db")
	// doc: service
	users := sabir.NewService("users",
		sabir.Doc("knows who may order"),
		sabir.DependsOn(sabir.ServiceName("db")), // starts after db, stops before it
		sabir.OnStart(connect),                   // runs before the first call
		sabir.OnStop(disconnect))                 // runs after the last call has ended
	sabir.Handle(users, "get", getUser) // func(context.Context, GetUser) (UserInfo, error)
	// end

	tails := sabir.NewService("log")
	// doc: stream
	sabir.HandleStream(tails, "tail", func(ctx context.Context, s *sabir.Stream[Tail, Line]) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		return s.Send(Line{Text: "first line of " + in.File}) // waits when the other side is 16 values or 256 KiB behind
	})
	// end

	mail := sabir.NewService("mail")
	handled := 0
	// doc: on
	sabir.On(mail, "order.*", func(ctx context.Context, e OrderEvent) error {
		handled++
		return nil
	})
	// end

	var took []string
	// doc: middleware
	timing := sabir.Middleware{Name: "timing", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			start := time.Now()
			err := next(ctx, r)
			slog.Debug("called", "action", a.Name, "took", time.Since(start), "error", err)
			return err
		}
	}}
	timed := sabir.Use(timing)
	// end
	count := sabir.Middleware{Name: "count", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error { took = append(took, a.Name); return next(ctx, r) }
	}}

	node := startFor(t, sabir.Serve(db, users, tails, mail), timed, sabir.Use(count))
	if user, err := sabir.Call[UserInfo](ctx, node, "users.get", GetUser{"u-1"}); err != nil || user.ID != "u-1" {
		t.Errorf("%+v, %v", user, err)
	}
	lines := 0
	// doc: call-stream
	for line, err := range sabir.CallStream[Line](ctx, node, "log.tail", Tail{File: "a.log"}) {
		if err != nil {
			break // the error that the stream ended with; none at its regular end
		}
		fmt.Fprintln(os.Stderr, line.Text)
		lines++
	}
	// end
	// doc: open-stream
	s, err := sabir.OpenStream[Tail, Line](ctx, node, "log.tail") // both ways: Send, Recv, CloseSend
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// end
	// doc: emit
	emitted := sabir.Emit(ctx, node, "order.created", OrderEvent{ID: 7})        // each group once
	broadcast := sabir.Broadcast(ctx, node, "order.created", OrderEvent{ID: 7}) // every service
	// end
	audit := sabir.NewService("audit")
	knows := ""
	// doc: event-info
	sabir.On(audit, "order.*", func(ctx context.Context, e OrderEvent) error {
		info := sabir.InfoFromContext(ctx)
		// The event's name, whether it was broadcast, the groups that its emitter chose (nil for all), and the emitter's node.
		knows = fmt.Sprintf("%s %t %v %s", info.Event, info.Broadcast, info.Groups, info.From)
		return nil
	})
	// end
	if err := node.Add(ctx, audit); err != nil {
		t.Fatal(err)
	}
	// doc: groups
	chosen := sabir.Emit(ctx, node, "order.created", OrderEvent{ID: 8}, sabir.Groups("audit", "billing"))
	// end
	if want := "order.created false [audit billing] " + node.ID(); chosen != nil || knows != want {
		t.Errorf("%v; the handler knows %s, not %s", chosen, knows, want)
	}
	if emitted != nil || broadcast != nil || handled != 2 || lines != 1 || len(steps) != 1 || len(took) == 0 {
		t.Errorf("%v, %v; %d events, %d lines, %v, %v", emitted, broadcast, handled, lines, steps, took)
	}
}

func TestContractsOfTheGuide(t *testing.T) {
	ctx := t.Context()
	type Stock struct {
		Left int `json:"left"`
	}
	type Item struct {
		Item string `json:"item"`
	}
	// doc: contract
	var (
		Get     = sabir.NewAction[GetUser, UserInfo]("users.get") // and sabir.NewStream
		Created = sabir.NewEvent[UserInfo]("users.created")
	)
	// end
	Left := sabir.NewAction[Item, Stock]("stock.left")
	users, stock, mailer := sabir.NewService("users"), sabir.NewService("stock"), sabir.NewService("mailer")
	getUser := func(_ context.Context, in GetUser) (UserInfo, error) { return UserInfo(in), nil }
	mails := 0
	sendMail := func(context.Context, UserInfo) error { mails++; return nil }
	// doc: contract-handle
	Get.Handle(users, getUser)
	Created.On(mailer, sendMail)
	// end
	Left.Handle(stock, func(context.Context, Item) (Stock, error) { return Stock{5}, nil })
	node := startFor(t, sabir.Serve(users, stock, mailer))
	var left Stock
	// doc: contract-call
	user, err := Get.Call(ctx, node, GetUser{ID: "u-1"})
	err = errors.Join(err,
		sabir.All(ctx, node, Get.Into(&user, GetUser{ID: "u-2"}), Left.Into(&left, Item{"lamp"})), // at the same time
		Created.Emit(ctx, node, user))
	// end
	if err != nil || user.ID != "u-2" || left.Left != 5 || mails != 1 {
		t.Errorf("%+v, %+v, %d mails, %v", user, left, mails, err)
	}
	// doc: send
	err = Get.Send(ctx, node, GetUser{ID: "u-3"}, sabir.WithTimeout(time.Second)) // returns at once
	// end
	if err != nil {
		t.Error(err)
	}
	least := func(a, b Stock) Stock { return Stock{min(a.Left, b.Left)} }
	// doc: call-each
	for left, err := range Left.CallEach(ctx, node, Item{"lamp"}) { // of every node, as the answers come
		t.Log(left, err)
	}
	fewest, err := Left.CallMerged(ctx, node, Item{"lamp"}, least, sabir.Quorum(1)) // one answer made of all, or of so many
	// end
	if err != nil || fewest.Left != 5 {
		t.Errorf("%+v, %v", fewest, err)
	}
}

func allowed(refund func(context.Context, OrderEvent) (sabir.Empty, error)) *sabir.Service {
	// doc: allow
	billing := sabir.NewService("billing", sabir.Allow{Nodes: []string{"orders-*", "spiffe://example.org/gateway"}})
	sabir.Handle(billing, "refund", refund, sabir.Allow{Services: []string{"support"}, Audited: true})
	// end
	return billing
}

// errors.md

func TestErrorsOfTheGuide(t *testing.T) {
	ctx := t.Context()
	type Left struct {
		Left int `json:"left"`
	}
	type Order struct {
		Item string `json:"item"`
	}
	// doc: error
	ErrOutOfStock := sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "not enough in stock")
	// end
	orders := sabir.NewService("orders")
	sabir.Handle(orders, "create", func(context.Context, Order) (Order, error) {
		// doc: error-handler
		return Order{}, ErrOutOfStock.WithData(Left{3})
		// end
	})
	node := startFor(t, sabir.Serve(orders))
	_, err := sabir.Call[Order](ctx, node, "orders.create", Order{"lamp"})
	// doc: error-caller
	if errors.Is(err, ErrOutOfStock) { // wherever the handler ran
		left, err := sabir.DataAs[Left](err)
		fmt.Fprintln(os.Stderr, left.Left, err)
	}
	// end
	if left, dataErr := sabir.DataAs[Left](err); !errors.Is(err, ErrOutOfStock) || left.Left != 3 || dataErr != nil {
		t.Errorf("%v, %+v, %v", err, left, dataErr)
	}
}

// policies.md

type ItemPrice struct {
	Cents int `json:"cents"`
}

type PriceOf struct {
	Item string `json:"item"`
}

func TestPoliciesOfTheGuide(t *testing.T) {
	shop := sabir.NewService("shop")
	price := func(context.Context, PriceOf) (ItemPrice, error) { return ItemPrice{500}, nil }
	send := func(context.Context, string) error { return nil }
	// doc: policies
	prices := &policy.Cache{MaxEntries: 50_000}

	sabir.Handle(shop, "price", price, sabir.Use( // the first is the outermost
		policy.FallbackValue(ItemPrice{}),
		policy.Cached{Cache: prices, TTL: time.Minute, Keys: []string{"item", "#currency"}},
		policy.RateLimit{Rate: 1000, Burst: 100},
		policy.Retry{},
		policy.Breaker{},
		policy.Timeout(2*time.Second),
		policy.Bulkhead{MaxCalls: 50, MaxQueue: 100},
	))
	// end
	// doc: policies-stack
	stack := sabir.Use(policy.Stack{Timeout: 2 * time.Second, Breaker: &policy.Breaker{}, Retry: &policy.Retry{Attempts: 5}})
	// end
	// doc: toward
	caller := sabir.NewNode(
		sabir.Toward("users.*", policy.Timeout(time.Second), policy.Breaker{}),
		sabir.Toward("rates.today", policy.Cached{Cache: prices, TTL: time.Minute}))
	// end
	if err := caller.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer caller.Stop(context.WithoutCancel(t.Context()))
	placed, mails := sabir.NewEvent[OrderEvent]("orders.placed"), channel.New[string]("mails")
	// doc: sends
	orders := sabir.NewService("orders", sabir.Sends(placed, mails)) // an event and a channel
	// end
	if err := caller.Add(t.Context(), orders); err != nil {
		t.Fatal(err)
	}
	getItem := sabir.NewAction[string, int]("shop.item")
	// doc: with
	guarded := getItem.With(policy.Timeout(time.Second), policy.Breaker{}) // once; calls through it are guarded
	// end
	_ = guarded
	screen := sabir.NewService("screen")
	draw := func(context.Context, ItemPrice) error { return nil }
	reindex := func(context.Context, PriceOf) error { return nil }
	byItem := func(e *sabir.Event) string { return e.Payload().(*PriceOf).Item }
	// doc: policies-events
	sabir.On(screen, "price.*", draw, sabir.Use(policy.Throttle{Every: 100 * time.Millisecond}, policy.Timeout(time.Second)))
	sabir.On(screen, "item.changed", reindex, sabir.Use(policy.Debounce{Wait: time.Second, Key: byItem}))

	mails.ConsumeWith(screen, channel.Consumer{Use: []sabir.Wrapper{policy.Throttle{Every: time.Second}}}, send)
	// end
	// doc: breaker-states
	var states policy.BreakerStates
	sabir.Handle(shop, "pay", price, sabir.Use(policy.Breaker{States: &states}))
	// end
	sabir.Handle(shop, "stacked", price, stack)
	node := startFor(t, sabir.Serve(shop))
	for _, action := range []string{"shop.price", "shop.stacked", "shop.pay"} {
		if got, err := sabir.Call[ItemPrice](t.Context(), node, action, PriceOf{"lamp"}); err != nil || got.Cents != 500 {
			t.Errorf("%s: %+v, %v", action, got, err)
		}
	}
	// doc: breaker-state
	state, known := states.Of("shop.pay") // of another node: states.Of("users.get@node-1")
	// end
	if !known || state != "closed" {
		t.Errorf("%v, %v", state, known)
	}
}

func TestTheSignalOfTheGuideReachesItsMiddleware(t *testing.T) {
	users := sabir.NewService("users")
	cached := policy.Cached{Cache: &policy.Cache{}, TTL: time.Minute, Clone: policy.CloneJSON()}
	sabir.Handle(users, "get", func(context.Context, int) (string, error) { return "Ada", nil }, sabir.Use(cached))
	// doc: signals
	var hits atomic.Int64
	count := sabir.Middleware{Name: "hits", Signal: func(kind, action, node string) {
		if kind == "cache.hit" {
			hits.Add(1)
		}
	}}
	node := sabir.NewNode(sabir.Use(count), sabir.Serve(users))
	// end
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.WithoutCancel(t.Context()))
	for range 3 {
		if _, err := sabir.Call[string](t.Context(), node, "users.get", 7); err != nil {
			t.Fatal(err)
		}
	}
	if hits.Load() != 2 {
		t.Errorf("%d hits, want 2", hits.Load())
	}
}

func hedged() *sabir.Node {
	// doc: hedge
	node := sabir.NewNode(sabir.Join("tcp://:7700"), sabir.Use(policy.Retry{}, policy.Hedge{}))
	// end
	return node
}

func inRedis(shop *sabir.Service, price func(context.Context, PriceOf) (ItemPrice, error)) error {
	// doc: rediscache
	store, err := rediscache.Open(rediscache.Config{URL: "rediss://user:password@cache.internal", Name: "shop"})
	if err != nil {
		return err
	}
	defer store.Close()
	prices := &policy.Cache{Store: store}
	sabir.Handle(shop, "price", price, sabir.Use(policy.Cached{Cache: prices, TTL: time.Minute, Keys: []string{"item"}}))
	// end
	return nil
}

// validation.md

// doc: sign-up
type SignUp struct {
	Name     string   `json:"name" validate:"required,max=64"`
	Email    string   `json:"email" validate:"required,email"`
	Age      int      `json:"age" validate:"gte=0,lte=150"`
	Role     string   `json:"role" validate:"oneof=admin user guest"`
	Tags     []string `json:"tags" validate:"max=10,dive,max=32"`
	Password string   `json:"password" validate:"min=12" sabir:"secret"`
}

// end

func TestRulesOfTheGuide(t *testing.T) {
	users := sabir.NewService("users")
	type Account struct {
		Handle   string `json:"handle" validate:"handle"`
		Password string `json:"password" validate:"password" sabir:"secret"`
	}
	sabir.Handle(users, "signUp", func(_ context.Context, in SignUp) (sabir.Empty, error) { return sabir.Empty{}, nil })
	sabir.Handle(users, "rename", func(_ context.Context, in Account) (sabir.Empty, error) { return sabir.Empty{}, nil })
	// doc: rules
	v := validate.New()
	err := errors.Join(
		playground.RegisterValidation(v, "handle", func(f validator.FieldLevel) bool {
			return strings.HasPrefix(f.Field().String(), "@")
		}),
		v.SetMessage("handle", "{0} must begin with @"), // {0} is the field, {1} the parameter
		v.RegisterAlias("password", "min=12,max=128"),
	)
	// end
	if err != nil {
		t.Fatal(err)
	}
	node := startFor(t, sabir.Validator(v), sabir.Serve(users))
	_, err = sabir.Call[sabir.Empty](t.Context(), node, "users.rename", Account{"ada", "short"})
	text, _ := json.Marshal(sabir.AsError(err).Data)
	if !errors.Is(err, sabir.ErrValidationFailed) || !strings.Contains(string(text), "handle must begin with @") || strings.Contains(string(text), "short\"") {
		t.Errorf("%v, %s", err, text)
	}
	good := SignUp{Name: "Ada", Email: "ada@example.com", Age: 36, Role: "user", Password: "correct horse battery"}
	if _, err = sabir.Call[sabir.Empty](t.Context(), node, "users.signUp", good); err != nil {
		t.Error(err)
	}
}

func TestTheErrorsOfTheGuideAreThoseOfTheRules(t *testing.T) {
	type item struct {
		Price int `json:"price" validate:"gt=0"`
	}
	type order struct {
		Items []item `json:"items" validate:"dive"`
	}
	broken, _ := errors.AsType[validate.Errors](validate.New().Struct(&order{Items: []item{{1}, {1}, {-3}}}))
	text, err := json.Marshal(broken)
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, text, "validation.json")
}

// channels.md

type ShopOrder struct {
	ID int `json:"id"`
}

func TestChannelsOfTheGuide(t *testing.T) {
	ctx := t.Context()
	charged := make(chan ShopOrder, 1)
	charge := func(_ context.Context, o ShopOrder) error { charged <- o; return nil }
	record := func(context.Context, ShopOrder) error { return channel.Reject(errors.New("the book is full")) }
	// doc: channel
	Orders := channel.New[ShopOrder]("guide.orders") // a name and a type, shared by all who use it

	billing := sabir.NewService("billing")
	Orders.Consume(billing, func(ctx context.Context, o ShopOrder) error {
		return charge(ctx, o) // an error: it comes again, later
	})
	// end
	audit := sabir.NewService("audit")
	// doc: consume-with
	Orders.ConsumeWith(audit, channel.Consumer{MaxInFlight: 1, Attempts: 20, MaxPause: time.Hour}, record)
	// end
	address := "mem://"
	// doc: channel-broker
	node := sabir.NewNode(channel.Broker(address), sabir.Serve(billing, audit)) // nats://10.0.0.5:4222, redis://…, amqp://…
	// end
	node = startFor(t, channel.Broker(address), sabir.Serve(billing, audit))
	// doc: channel-publish
	receipt, err := Orders.Publish(ctx, node, ShopOrder{ID: 7}) // nil: the broker keeps it
	// end
	if err != nil || (<-charged).ID != 7 {
		t.Fatal(receipt, err)
	}
	for tick := time.NewTicker(10 * time.Millisecond); ; <-tick.C {
		letters, err := channel.DeadLetters(ctx, node, "guide.orders.dead", 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(letters) == 1 {
			break
		}
	}
	// doc: dead-letters
	letters, err := channel.DeadLetters(ctx, node, "guide.orders.dead", 100)
	if err != nil || len(letters) == 0 {
		t.Fatal(letters, err)
	}
	deleted, err := channel.DeleteDeadLetters(ctx, node, "guide.orders.dead", letters[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := channel.Replay(ctx, node, "guide.orders.dead") // all, or those with these keys
	// end
	if deleted != 1 || replayed != 0 || err != nil {
		t.Errorf("%d deleted, %d replayed, %v", deleted, replayed, err)
	}
}

// overload.md

func priorities(ctx context.Context) (prefetch, payment context.Context) {
	// doc: priority
	prefetch = sabir.Sheddable(ctx) // a prefetch, a backfill, statistics
	payment = sabir.Critical(ctx)   // somebody pays
	// end
	return prefetch, payment
}

// joining.md

type Session struct {
	User string `json:"user"`
}

func joins(ctx context.Context, greeter *sabir.Service, address, user string) error {
	// doc: join
	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join("tcp://:7700"))
	// end

	// doc: join-key
	several := sabir.Join("tcp://0.0.0.0:7700", cluster.Config{
		Seeds:      []string{"tcp://10.0.0.5:7700", "tcp://10.0.0.6:7700"},
		KeyFromEnv: "SABIR_KEY", // openssl rand -hex 32
	})
	// end

	// doc: join-tls
	certificates, err := tcp.Certificates("node.crt", "node.key", "ca.crt") // read anew when the files change
	if err != nil {
		return err
	}
	secured := sabir.Join("tls://0.0.0.0:7700", cluster.Config{Seeds: []string{"tls://10.0.0.5:7700"}, TLS: certificates})
	// end

	// doc: join-broker
	broker := sabir.Join("nats://10.0.0.9:4222", cluster.Config{KeyFromEnv: "SABIR_KEY"})
	embedded := sabir.Join("nats://embedded") // a real NATS server inside the process: several processes of one machine form a NATS cluster
	// end

	// doc: join-directory
	inEtcd := sabir.Join("tcp://10.0.0.5:7700", cluster.Config{
		KeyFromEnv: "SABIR_KEY",
		Directory:  &cluster.Etcd{URLs: []string{"http://10.0.0.9:2379", "http://10.0.0.10:2379"}},
	})
	inConsul := sabir.Join("tcp://10.0.0.5:7700", cluster.Config{
		KeyFromEnv: "SABIR_KEY",
		Directory:  &cluster.Consul{}, // by the agent of this machine
	})
	// end

	// doc: kubernetes
	st, err := store.Open(ctx, "kubernetes://") // or "kubernetes://127.0.0.1:8001/shop" over kubectl proxy
	// end
	if err != nil {
		return err
	}
	defer st.Close()

	// doc: balance
	balanced := sabir.NewNode(sabir.Join(address),
		sabir.PreferLocal(false),                  // share calls with other nodes even where this one could answer
		sabir.Balance(cluster.LeastInFlight),      // the fewest calls in flight
		sabir.Balance(cluster.Hash, "sessions.*")) // by key: see below
	// end

	// doc: by-key
	session, err := sabir.Call[Session](ctx, node, "sessions.get", Session{user}, sabir.ByKey(user)) // one user, one node
	if err != nil {
		return err
	}
	report, err := sabir.Call[Session](ctx, node, "reports.make", session, sabir.ToNode("big-1"))
	// end

	// doc: retry
	retrying := sabir.NewNode(sabir.Join(address), sabir.Use(policy.Retry{}, policy.Timeout(time.Second)))
	// end
	_, _, _, _, _, _, _, _, _ = several, secured, broker, embedded, inEtcd, inConsul, balanced, report, retrying
	return err
}

func TestTheCodeOfOtherMachinesCompiles(t *testing.T) {
	for _, f := range []any{allowed, hedged, inRedis, priorities, joins} {
		if f == nil {
			t.Error("a function of the guides is missing")
		}
	}
}
