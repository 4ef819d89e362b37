// Package hsf repeats node-hsf's benchmarks in the lab. The program hsf makes the calls, and so do those of Java and Node in
// peers/dubbo and peers/hsf. The program hessian measures the codecs. The servers of HTTP are those of the package mion.
package hsf

import "github.com/sabir-go/sabir/lab/bench"

// Seed has all its tables.
func Seed() bench.Seed {
	return bench.Seed{Name: "node-hsf", Title: "node-hsf",
		About: "Benchmarks of node-hsf, Alibaba's RPC for Node (Xeon E5620 at 2.4 GHz, client and server on a machine each, 2012 and 2013): " +
			"HTTP hello world, ping, a complex object in JSON and in Hessian, and errors that a domain catches.",
		Tables: []bench.Table{httpHello(), pingTable(), distributionTable(), parseTable(), domainTable(), hessianTable(), bridgeTable()},
	}
}
