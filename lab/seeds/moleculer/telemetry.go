package moleculer

import "github.com/sabir-go/sabir/lab/bench"

func telemetryTables() []bench.Table { return []bench.Table{metrics(), contextTracking()} }

func metrics() bench.Table {
	const timed = "Plain function, clock read twice"
	off := job{group: "off", work: "telemetry off"}
	counted := job{group: "metrics", work: "telemetry metrics"}
	traced := job{group: "tracing", work: "telemetry tracing"}
	both := job{group: "metrics and tracing", work: "telemetry both"}
	set := func(r bench.Row, settings string) bench.Row {
		r.Settings = settings
		return r
	}
	return bench.Table{Name: "metrics", Title: "Call with metrics and tracing",
		About: aboutCalls + " Metrics: both count calls, failures, calls under way and a distribution of latencies for each action, and nobody reads " +
			"them while calls are measured; Moleculer keeps quantiles of a sliding window, Sabir buckets as OpenTelemetry has them. Tracing: both " +
			"make a span of each call, with ids, times and attributes, and give it to an exporter that counts it and drops it; Moleculer one by " +
			"one on the caller's thread, Sabir in batches on another. After each measurement the metrics must have counted every call; spans that " +
			"the exporter was not given are in the last column. The published figures are of metrics that were events, in Moleculer 0.11.",
		Columns:  append(localColumns("calls"), bench.Column{Key: "lost", Title: "spans lost", Unit: bench.Percent, Less: true}),
		Duration: localDuration, Quick: localQuick,
		Rows: []bench.Row{
			off.moleculer("1 601 825/s, 624 ns"), off.sabir(""), off.limit(plainCall),
			set(counted.moleculer("493 759/s, 2 µs"), "metrics: true, no reporter"), counted.sabir("telemetry.Config{Metrics: true}"), counted.limit(timed),
			set(traced.moleculer(""), "every call is sampled"), traced.sabir("every call is sampled"), traced.limit(timed),
			both.moleculer(""), both.sabir(""), both.limit(timed),
		}}
}

func contextTracking() bench.Table {
	without := job{group: "without tracking", work: "tracking without"}
	with := job{group: "with tracking", work: "tracking with"}
	return bench.Table{Name: "context-tracking", Title: "Context tracking",
		About: aboutCalls + " With tracking a service that is stopped waits until the calls in it have ended. Moleculer keeps a list of them " +
			"(tracking.enabled); Sabir counts them, by itself, for services with a stop hook.",
		Columns: localColumns("calls"), Duration: localDuration, Quick: localQuick,
		Rows: []bench.Row{
			without.moleculer("1 606 966/s, 622 ns"), without.sabir(""), without.limit(plainCall),
			with.moleculer("1 588 692/s, 629 ns"), with.sabir("a service with a stop hook"), with.limit("Plain function, counted in and out"),
		}}
}
