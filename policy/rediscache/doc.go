// Package rediscache keeps the answers of caches in Redis, or in Valkey and others that use its protocol, where all
// nodes find them.
//
//	store, err := rediscache.Open(rediscache.Config{URL: "redis://cache.internal:6379", Name: "shop"})
//	...
//	defer store.Close()
//	prices := &policy.Cache{Store: store}
//	sabir.Handle(shop, "price", price, sabir.Use(policy.Cached{Cache: prices, TTL: time.Minute, Keys: []string{"item"}}))
//
// What one node has worked out, all have. Of the calls with one key that find nothing, on whatever node, one runs the
// handler. A cleaning on one node holds for all when it returns. While Redis is not there, calls do without the cache.
//
// # Addresses
//
//	redis://user:password@127.0.0.1:6379/3           a server, and its database
//	redis://one:6379,two:6379                        a Redis Cluster
//	redis://one:26379,two:26379?sentinel=mymaster    Sentinels, which know the server
//	rediss://host:6379                               over TLS 1.3
//
// docs/addresses.md has all parts of the address, which is the same for links, channels and grains. The server must speak RESP3:
// Redis 6 or later. Of a Redis Cluster one server has all answers of a name, whose keys then begin with "{shop}:". Connections
// are made when they are needed first: one for answers, and one more when nodes wait for each other.
//
// # In Redis
//
// All keys begin with the name of the store. "shop:answer:users.get:…" is an answer: a byte that marks the layout, eight of
// the age of the action's answers, and the answer as the codec wrote it. The end of the key is a hash of what was asked and
// of its types, so no input can be read from it. "shop:lock:users.get:…" is there while a node works out an answer.
// "shop:cleaned" is a hash of patterns and when each was cleaned last. Nothing is listed, scanned or deleted: a cleaning
// notes its pattern, and answers with an older age are not found any more, and expire.
//
// Any client that can write to the Redis can make up answers. Its bytes are otherwise not trusted: what is too large or cannot
// be read is an error in the log and no answer.
//
// Answers take memory until their TTL ends, cleaned or not. Give the server a maxmemory and the policy allkeys-lru or
// allkeys-lfu; any key may be evicted at any time. User accounts (ACL) need the commands HELLO, CLIENT, SELECT, PING, GET,
// GETRANGE, SET, DEL, PTTL, PEXPIRE, PERSIST, MULTI, EXEC, HGET, HGETALL, HLEN, HSET, TIME, EVAL and EVALSHA, and the keys "shop:*"; where the
// server has replicas also INFO, ROLE and WAIT.
//
// # Replicas
//
// Where the server has replicas, a cleaning returns and the holder of a lock begins when they have it: see [Config.Replicas]. Without INFO
// or ROLE no replica is waited for. An answer that was worked out under a lock is kept only while the lock is there: of two
// nodes that both held it, one keeps its answer.
package rediscache
