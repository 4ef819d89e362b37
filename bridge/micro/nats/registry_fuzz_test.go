package nats

import (
	"log/slog"
	"testing"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/internal/gomicro"
)

// FuzzRegistry reads bytes as news, an answer and a question of go-micro's registry.
func FuzzRegistry(f *testing.F) {
	const service = `{"name":"lab","version":"latest","endpoints":[{"name":"Lab.Add"}],"nodes":[{"id":"lab-1","address":"127.0.0.1:80"}]}`
	f.Add([]byte(`{"Action":"create","Service":` + service + `}`))
	f.Add([]byte(`{"Action":"delete","Service":` + service + `}`))
	f.Add([]byte(`{"Action":"list","Service":null}`))
	f.Add([]byte(service))
	f.Fuzz(func(t *testing.T, data []byte) {
		v := &view{seen: make(map[key]entry), session: &gomicro.Session{Log: slog.New(slog.DiscardHandler), Found: func([]gomicro.Service) {}, Dropped: func(string, string, error) {}}}
		m := &natsgo.Msg{Data: data, Reply: "inbox"}
		v.news(m)
		v.learn(m)
		v.answer(m) // the node has no services
		if len(v.seen) > gomicro.MaxServices {
			t.Errorf("%d nodes are known", len(v.seen))
		}
	})
}
