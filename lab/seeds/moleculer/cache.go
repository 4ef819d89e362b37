package moleculer

import (
	"fmt"

	"github.com/sabir-go/sabir/internal/brokers"

	"github.com/sabir-go/sabir/lab/bench"
)

func cacheTables() []bench.Table {
	return []bench.Table{cachers(), cacheSetGet(), cacheKey(), cacheCloning()}
}

const (
	mapLookUp = "Go map under an RWMutex"
	rawRedis  = "Bare connection to Redis"
)

func cachers() bench.Table {
	var rows []bench.Row
	for _, group := range []struct {
		of                             job
		published, theirs, ours, limit string
	}{
		{job{group: "no cacher", work: "cache none"}, "1 180 739/s, 846 ns", "", "", plainCall},
		{job{group: "memory", work: "cache memory"}, "611 911/s, 1 µs", "cache: true", "policy.Cached{Cache: &policy.Cache{}}", mapLookUp},
		{job{group: "memory, keys filter", work: "cache keys"}, "893 071/s, 1 µs", `keys: ["id"]`, `policy.Cached{Keys: []string{"id"}}`, mapLookUp},
		{job{group: "memory for 1000 answers, keys filter", work: "cache lru"}, "", "MemoryLRU, max: 1000",
			"policy.Cache{MaxEntries: 1000}", mapLookUp},
		{job{group: "Redis, keys filter", work: "cache redis", broker: brokers.Redis}, "", "ioredis", "policy/rediscache", rawRedis},
	} {
		theirs := group.of.moleculer(group.published)
		theirs.Settings = group.theirs
		rows = append(rows, theirs, group.of.sabir(group.ours), group.of.limit(group.limit))
	}
	return bench.Table{Name: "cachers", Title: "Call with cachers",
		About: "One operation is a call of an action in the same process, one after another by one caller, awaited where there is a promise. 100 " +
			"questions of an id and a name are asked in turn. Every answer is checked, and so is that the handler ran once for each question " +
			"where answers are kept. The key is the whole question, or its id. The limit has its answers in a map by the whole question; that of " +
			"Redis asks for the text alone with GET. In Redis, Sabir looks at the time of the last cleaning along with the answer.",
		Columns: localColumns("calls"), Rows: rows, Duration: localDuration, Quick: localQuick,
		Why: map[string]string{"Redis, keys filter": "Sabir asks for the time of the last cleaning with each answer, a second command, which Moleculer does not. A caller that " +
			"is alone has a connection for itself, and polls it for up to 50 µs before it sleeps, as the limit does not."}}
}

// user is one of a document's.
type user struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Email  string `json:"email"`
	Active bool   `json:"active"`
	Age    int    `json:"age"`
}

// document is about 1 kB as JSON.
var document = func() any {
	var users []user
	for id := 1; id <= 11; id++ {
		users = append(users, user{id, fmt.Sprintf("Ada Lovelace %d", id), fmt.Sprintf("ada.lovelace.%d@example.org", id), id%2 == 0, 30 + id})
	}
	return struct {
		Users []user `json:"users"`
	}{users}
}()

func cacheSetGet() bench.Table {
	memory := job{group: "memory", work: "set-get memory", extra: document}
	redis := job{group: "Redis", work: "set-get redis", extra: document, broker: brokers.Redis}
	return bench.Table{Name: "cache-set-get", Title: "Set and get 1 kB with the cacher",
		About: "One operation has a cache keep a document of 1 kB, 11 users, and asks for it: one of 16 in turn, whose serial number and last user are " +
			"checked. No action is called: it is Moleculer's cacher and the store of Sabir's caches by themselves. In memory all keep the " +
			"document as it is. In Redis Moleculer keeps JSON, Sabir its own format, and both read it again; the limit sends JSON that it has " +
			"made before, and compares what comes back.",
		Columns: localColumns("pairs"), Duration: localDuration, Quick: localQuick,
		Rows: []bench.Row{
			memory.moleculer("2 233 922/s, 447 ns"), memory.sabir("policy.InMemory"), memory.limit(mapLookUp),
			redis.moleculer("10 729/s, 93 µs"), redis.sabir("policy/rediscache"), redis.limit(rawRedis),
		}}
}

func cacheKey() bench.Table {
	dynamic := job{group: "dynamic", work: "key dynamic"}
	static := job{group: "static", work: "key static"}
	const whole, keyed = "with the call around it", "with the call around it; policy.Cached{Keys: …}"
	theirs := static.moleculer("6 787 824/s, 147 ns")
	theirs.Settings = `keys: ["id"]`
	return bench.Table{Name: "cache-key", Title: "Make a cache's key",
		About: "One operation makes the key of an input: an id, a title, an author with name and age, and two tags; 100 inputs in turn. A dynamic key is " +
			"that of the whole input, a static one that of its id. Each key must be the same each time, and no two inputs may share one. " +
			"Moleculer's is the function getCacheKey alone. Sabir makes keys only inside of calls, so its rows are calls by name whose store " +
			"has an answer at once: they do more.",
		Columns: localColumns("keys"), Duration: localDuration, Quick: localQuick,
		Rows: []bench.Row{
			dynamic.moleculer("2 783 031/s, 359 ns"), dynamic.sabir(whole), dynamic.limit("Fields appended by hand"),
			theirs, static.sabir(keyed), static.limit("Id appended by hand"),
		}}
}

func cacheCloning() bench.Table {
	without := job{group: "without cloning", work: "clone without", extra: document}
	with := job{group: "with cloning", work: "clone with", extra: document}
	alone := func(j job, published string) bench.Row {
		j.work += ", alone"
		r := j.row("Moleculer, the cacher alone", "moleculer", inNode)
		r.Module, r.Published, r.Settings = "moleculer", published, "cacher.get, no call"
		return r
	}
	return bench.Table{Name: "cache-cloning", Title: "Cloning in memory",
		About: "One operation is a call of an action whose answer, 11 users and 1 kB, is in the cache in memory. The number of users or the first user's " +
			"name is checked. With cloning each caller changes the name in what it gets, and the next must not see it. The published figures are " +
			"of the cacher without a call; that has a row of its own, which does less than the others. Moleculer clones with lodash's cloneDeep; " +
			"Sabir through JSON, or by a function that the author gives.",
		Columns: localColumns("calls"), Duration: localDuration, Quick: localQuick,
		Rows: []bench.Row{
			without.moleculer(""), alone(without, "4 608 810/s, 216 ns"), without.sabir(""), without.limit(mapLookUp),
			with.moleculer(""), alone(with, "182 449/s, 5 µs"), with.sabir("policy.CloneJSON()"),
			with.variant("Sabir, own function", "sabir clone", "policy.CloneWith"), with.limit(mapLookUp + ", copied by hand"),
		}}
}
