package integration

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// The rights are those of docs/addresses.md, word by word. Each is taken out once, for a cluster of another name beside the others on
// the same broker.

// cutRights are the versions of a text that lack one right each, by what is missing; "" is the whole text. They are of clusters with
// names of their own.
func cutRights(text string, right *regexp.Regexp, instead string) map[string]tenant {
	all := map[string]tenant{"": {"shop", text}}
	for i, at := range right.FindAllStringSubmatchIndex(text, -1) {
		name := fmt.Sprintf("shop%d", i)
		without := text[:at[2]] + instead + text[at[3]:]
		all[text[at[2]:at[3]]+fmt.Sprintf(" (%d)", i)] = tenant{name, strings.ReplaceAll(without, "shop", name)}
	}
	return all
}

// tenant is a cluster with its rights.
type tenant struct{ name, rights string }

// rightsOnThePage is the block of code in the section about rights that is marked with the broker's name.
func rightsOnThePage(t *testing.T, broker string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/addresses.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Rights\n")
	_, block, found := strings.Cut(section, "\n```"+broker+"\n")
	block, _, ended := strings.Cut(block, "\n```\n")
	if !found || !ended {
		t.Fatalf("docs/addresses.md has no rights of %s", broker)
	}
	return block
}

// checkRights runs all uses for the tenant with all rights, and then for those that lack one, which must fail.
func checkRights(t *testing.T, tenants map[string]tenant, address func(tenant) string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	whole := tenants[""]
	if err := useBroker(ctx, address(whole), whole.name); err != nil {
		t.Fatalf("with the rights of the page: %v", err)
	}
	if len(tenants) < 2 {
		t.Fatal("no right was found in the text")
	}
	fails := func(missing string) bool {
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		err := useBroker(ctx, address(tenants[missing]), tenants[missing].name)
		t.Logf("without %s: %.200v", missing, err)
		return err != nil
	}
	var again []string
	var mu sync.Mutex
	var checks sync.WaitGroup
	for missing := range tenants {
		if missing == "" {
			continue
		}
		checks.Go(func() {
			if !fails(missing) {
				mu.Lock()
				defer mu.Unlock()
				again = append(again, missing)
			}
		})
	}
	checks.Wait()
	for _, missing := range again { // what many at once made slow may not have come to its failure
		if !fails(missing) {
			t.Errorf("everything works without %s", missing)
		}
	}
}

// rightsOf has, for each broker, how a right is found in the text of the page and what stands instead of it when it is taken out, and how
// a broker is started that has the tenants. The address of a tenant has a %s for its prefix.
var rightsOf = map[string]struct {
	right   *regexp.Regexp
	instead string
	start   func(t *testing.T, tenants []tenant) (address func(tenant) string)
}{
	"redis":     {regexp.MustCompile(` (\+evalsha \+eval|\+client\|tracking \+client\|caching|[+~&]\S+)`), "", redisWith},
	"nats":      {regexp.MustCompile(`(?m)^ *("[^"]+")$`), `"none"`, natsWith},
	"mosquitto": {regexp.MustCompile(`(?m)^(topic .+)$`), "", mosquittoWith},
	"rabbitmq":  {regexp.MustCompile(`(\^[^|']+)`), "^$", rabbitMQWith},
}

func TestAClusterNeedsTheRightsOfThePageAndNoMore(t *testing.T) {
	brokers.Slow(t)
	t.Parallel()
	for name, broker := range rightsOf {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tenants := cutRights(rightsOnThePage(t, name), broker.right, broker.instead)
			address := broker.start(t, slices.Collect(maps.Values(tenants)))
			checkRights(t, tenants, func(who tenant) string { return fmt.Sprintf(address(who), who.name) })
		})
	}
}

func redisWith(t *testing.T, tenants []tenant) func(tenant) string {
	server := brokers.ReplicatedForTest(t, 1)
	admin, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr()}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	for _, who := range tenants {
		for line := range strings.Lines(who.rights) {
			if err := admin.Do(t.Context(), admin.B().Arbitrary(strings.Fields(line)...).Build()).Error(); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
	}
	return func(who tenant) string { return "redis://" + who.name + ":secret@" + server.Addr() + "?prefix=%s" }
}

func natsWith(t *testing.T, tenants []tenant) func(tenant) string {
	accounts := "accounts {\n"
	for _, who := range tenants {
		inner, _ := strings.CutPrefix(who.rights, "accounts {\n")
		accounts += strings.TrimSuffix(inner, "}")
	}
	server := brokers.ForTest(t, brokers.NATS, brokers.Config{Extra: accounts + "}\n"})
	return func(who tenant) string { return "nats://" + who.name + ":secret@" + server.Addr() + "?prefix=%s" }
}

func mosquittoWith(t *testing.T, tenants []tenant) func(tenant) string {
	var all []string
	for _, who := range tenants {
		all = append(all, who.rights)
	}
	file := filepath.Join(t.TempDir(), "acl")
	if err := os.WriteFile(file, []byte(strings.Join(all, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := brokers.ForTest(t, brokers.Mosquitto, brokers.Config{Extra: "acl_file " + file})
	return func(who tenant) string { return "mqtt://" + who.name + ":secret@" + server.Addr() + "?prefix=%s" }
}

func rabbitMQWith(t *testing.T, tenants []tenant) func(tenant) string {
	file := filepath.Join(t.TempDir(), "definitions.json")
	if err := os.WriteFile(file, definitions(t, tenants), 0o600); err != nil {
		t.Fatal(err)
	}
	server := brokers.ForTest(t, brokers.RabbitMQ, brokers.Config{Extra: "load_definitions = " + file})
	return func(who tenant) string {
		return "amqp://" + who.name + ":secret@" + server.Addr() + "/" + who.name + "?prefix=%s"
	}
}

// definitions has the effect of the commands of the page, in the form that RabbitMQ reads at its start: rabbitmqctl takes seconds for each.
func definitions(t *testing.T, tenants []tenant) []byte {
	t.Helper()
	type entry = map[string]string
	var users []map[string]any
	var hosts, permissions []entry
	set := regexp.MustCompile(`rabbitmqctl set_permissions --vhost (\S+) (\S+) '(.*)' '(.*)' '(.*)'`)
	for _, who := range tenants {
		salted := sha256.Sum256([]byte("saltsecret"))
		users = append(users, map[string]any{"name": who.name, "tags": "", "hashing_algorithm": "rabbit_password_hashing_sha256",
			"password_hash": base64.StdEncoding.EncodeToString(append([]byte("salt"), salted[:]...))})
		hosts = append(hosts, entry{"name": who.name})
		p := set.FindStringSubmatch(who.rights)
		if p == nil {
			t.Fatalf("no permissions are in:\n%s", who.rights)
		}
		permissions = append(permissions, entry{"vhost": p[1], "user": p[2], "configure": p[3], "write": p[4], "read": p[5]})
	}
	text, err := json.Marshal(map[string]any{"users": users, "vhosts": hosts, "permissions": permissions})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A tenant who asks for the names of another cluster gets nothing of it and changes nothing in it.
func TestATenantReachesNothingOfAnotherCluster(t *testing.T) {
	brokers.Slow(t)
	t.Parallel()
	for name, broker := range rightsOf {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rights := rightsOnThePage(t, name)
			shop, bank := tenant{"shop", rights}, tenant{"bank", strings.ReplaceAll(rights, "shop", "bank")}
			address := broker.start(t, []tenant{shop, bank})
			ownAddress, strangeAddress := fmt.Sprintf(address(shop), "shop"), fmt.Sprintf(address(bank), "shop")
			checkSubjects(t, ownAddress, fmt.Sprintf(address(bank), "bank"))
			if name == "rabbitmq" {
				ownHost := strings.Replace(ownAddress, "shop:secret@", "bank:secret@", 1)
				if err := useLinks(t.Context(), ownHost, ""); err == nil {
					t.Error("the other tenant may use the virtual host")
				}
			}
			if name != "mosquitto" {
				checkChannels(t, ownAddress, strangeAddress)
			}
			if name == "redis" || name == "nats" {
				checkGrains(t, ownAddress, strangeAddress)
			}
			if name == "redis" {
				if err := useCache(t.Context(), strangeAddress, "shop"); err == nil {
					t.Error("the other tenant may use the cache")
				}
			}
		})
	}
}

func checkSubjects(t *testing.T, ownAddress, strangeAddress string) {
	t.Helper()
	own, strange := connectBus(t, ownAddress), connectBus(t, strangeAddress)
	subscribe := func(broker transport.Broker, subject string) <-chan string {
		arrived := make(chan string, 100)
		err := until(t.Context(), func() error { // a refusal may have cost the connection
			return broker.Subscribe(t.Context(), subject, func(message []byte) { arrived <- string(message) })
		})
		if err != nil {
			t.Fatal(err)
		}
		return arrived
	}
	publish := func(broker transport.Broker, subject, text string) {
		err := until(t.Context(), func() error { return broker.Publish(subject, []byte(text)) }) // the first one may report an earlier refusal
		if err != nil {
			t.Fatal(err)
		}
	}
	arrived := subscribe(own, "shop.default")
	read := make(chan string, 100)
	_ = strange.Subscribe(t.Context(), "shop.default", func(message []byte) { read <- string(message) }) // Mosquitto takes it, and delivers nothing
	_ = strange.Publish("shop.default", []byte("forged"))
	back := subscribe(strange, "bank.default")
	publish(strange, "bank.default", "one")
	<-back // so the broker has done with the forged message what it does with it
	publish(own, "shop.default", "own")
	if got := <-arrived; got != "own" {
		t.Errorf("the cluster got %q", got)
	}
	publish(strange, "bank.default", "two")
	<-back // behind the cluster's message, if that is delivered to the other tenant too
	select {
	case got := <-read:
		t.Errorf("the other tenant has read %q", got)
	default:
	}
}

func connectBus(t *testing.T, address string) transport.Broker {
	t.Helper()
	at, err := schemes.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	bus, _ := transports.Bus(at.Scheme)
	broker, err := bus.Connect(t.Context(), at, transport.Config{Keyed: true}, transport.BusEvents{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { broker.Close() })
	return broker
}

func checkChannels(t *testing.T, ownAddress, strangeAddress string) {
	t.Helper()
	publish := func(address string, limit time.Duration, count uint64) (kept uint64, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		s, err := engine.Open(ctx, address, engine.Config{Log: quiet})
		if err != nil {
			return 0, err
		}
		defer s.Close()
		if err := s.Declare(ctx, engine.Spec{Name: "orders"}); err != nil {
			return 0, err
		}
		m := &engine.Outgoing{}
		m.ID, m.Time = rand.Text(), time.Now()
		s.Publish(ctx, "orders", []*engine.Outgoing{m})
		if m.Err != nil {
			return 0, m.Err
		}
		err = until(ctx, func() error { // RabbitMQ counts late
			stats, err := s.Stats(ctx, "orders")
			if kept = stats.Messages; err == nil && kept != count {
				err = fmt.Errorf("the channel has %d messages, want %d", kept, count)
			}
			return err
		})
		return kept, err
	}
	if _, err := publish(ownAddress, time.Minute, 1); err != nil {
		t.Fatal(err)
	}
	if n, _ := publish(strangeAddress, 3*time.Second, 1); n > 1 { // one is its own, in its own account or virtual host
		t.Errorf("the other tenant sees a channel of %d messages", n)
	}
	if _, err := publish(ownAddress, time.Minute, 2); err != nil {
		t.Error(err)
	}
}

func checkGrains(t *testing.T, ownAddress, strangeAddress string) {
	t.Helper()
	own, err := store.Open(t.Context(), ownAddress, store.Config{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	revision, err := own.Save(t.Context(), "cart", "ada", []byte("mine"), 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if strange, err := store.Open(ctx, strangeAddress, store.Config{Log: quiet}); err == nil {
		defer strange.Close()
		if entry, err := strange.Load(ctx, "cart", "ada"); err == nil && entry.Revision != 0 {
			t.Errorf("the other tenant has read %q", entry.State)
		}
		_, _ = strange.Save(ctx, "cart", "ada", []byte("forged"), revision)
	}
	if entry, err := own.Load(t.Context(), "cart", "ada"); err != nil || string(entry.State) != "mine" {
		t.Errorf("the cluster has %q, %v", entry.State, err)
	}
}
