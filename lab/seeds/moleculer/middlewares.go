package moleculer

import "github.com/sabir-go/sabir/lab/bench"

func middlewareTables() []bench.Table {
	const chain = "Chain of plain closures"
	bare := job{group: "no internal middlewares", work: "middlewares bare"}
	rows := []bench.Row{bare.moleculer("2 786 666/s, 358 ns"), bare.sabir("it has none"), bare.limit(plainCall)}
	rows[0].Settings = "internalMiddlewares: false"
	for _, group := range []struct {
		job
		published string
	}{
		{job{group: "no custom middlewares"}, "1 745 153/s, 573 ns"},
		{job{group: "1 middleware", size: 1}, "1 270 108/s, 787 ns"},
		{job{group: "5 middlewares", size: 5}, "655 822/s, 1 µs"},
		{job{group: "10 middlewares", size: 10}, "473 433/s, 2 µs"},
	} {
		group.work = "middlewares"
		rows = append(rows, group.moleculer(group.published), group.sabir("around all actions of the node"), group.limit(chain))
	}
	return []bench.Table{{Name: "middlewares", Title: "Middlewares",
		About: aboutCalls + " Each custom middleware counts the call and passes it on; that all have counted all calls is checked. Moleculer's own " +
			"features (validator, cacher, tracing and so on) are internal middlewares, which look at each action once when it is made; " +
			"Sabir has no such middlewares, so its first two groups are the same.",
		Columns: localColumns("calls"), Rows: rows, Duration: localDuration, Quick: localQuick}}
}
