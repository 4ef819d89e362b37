package rediscache_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/policy/rediscache"
)

type helloReply struct {
	Text string `json:"text"`
	Age  int    `json:"age"`
}

func hello(_ context.Context, id string) (helloReply, error) { return helloReply{id, 36}, nil }

// byCallers measures do with one caller, which waits for each answer, and with 100.
func byCallers(b *testing.B, do func(b *testing.B, i int)) {
	for _, callers := range []int{1, 100} {
		b.Run(fmt.Sprintf("%d callers", callers), func(b *testing.B) {
			do(b, 0)
			b.ReportAllocs()
			var wg sync.WaitGroup
			b.ResetTimer()
			for c := range callers {
				wg.Go(func() {
					for i := c; i < b.N; i += callers {
						do(b, i)
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

func callFor(b *testing.B, n *node, id string) {
	if out, err := sabir.Call[helloReply](context.Background(), n.Node, "users.get", id); err != nil || out.Age != 36 {
		b.Error(out, err)
	}
}

func BenchmarkAnswerInRedis(b *testing.B) {
	n := newNode(b, open(b, brokers.ForTest(b, brokers.Redis).URL()), hello)
	byCallers(b, func(b *testing.B, _ int) { callFor(b, n, "Ada") })
}

func BenchmarkAnswerInRedisAsJSON(b *testing.B) {
	n := newNode(b, open(b, brokers.ForTest(b, brokers.Redis).URL(), rediscache.Config{Codec: json.Codec}), hello)
	byCallers(b, func(b *testing.B, _ int) { callFor(b, n, "Ada") })
}

// BenchmarkNoAnswer has a new question each time: a look, a lock, a run, an answer to keep, a lock to release.
func BenchmarkNoAnswer(b *testing.B) {
	n := newNode(b, open(b, brokers.ForTest(b, brokers.Redis).URL()), hello)
	round := 0
	byCallers(b, func(b *testing.B, i int) {
		if i == 0 {
			round++
		}
		callFor(b, n, strconv.Itoa(round)+"-"+strconv.Itoa(i))
	})
}

// BenchmarkRawGet is rueidis alone with the same connection: a GET of a value of the same size.
func BenchmarkRawGet(b *testing.B) {
	c := rawClient(b)
	byCallers(b, func(b *testing.B, _ int) {
		if err := c.Do(context.Background(), c.B().Get().Key("k").Build()).Error(); err != nil {
			b.Error(err)
		}
	})
}

// BenchmarkRawTwo is rueidis alone with the two commands that a look is.
func BenchmarkRawTwo(b *testing.B) {
	c := rawClient(b)
	byCallers(b, func(b *testing.B, _ int) {
		replies := c.DoMulti(context.Background(), c.B().Hget().Key("h").Field(".").Build(), c.B().Getrange().Key("k").Start(0).End(1<<20).Build())
		if err := replies[1].Error(); err != nil {
			b.Error(err)
		}
	})
}

func rawClient(b *testing.B) rueidis.Client {
	o, err := rueidis.ParseURL(brokers.ForTest(b, brokers.Redis).URL())
	if err != nil {
		b.Fatal(err)
	}
	o.DisableCache, o.PipelineMultiplex, o.ForceSingleClient = true, -1, true
	c, err := rueidis.NewClient(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	c.Do(context.Background(), c.B().Set().Key("k").Value("123456789012345678901").Build())
	c.Do(context.Background(), c.B().Hset().Key("h").FieldValue().FieldValue(".", "1759000000000000").Build())
	return c
}
