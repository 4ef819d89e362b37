// Package redissessions keeps in Redis, or in Valkey and others that use its protocol, which sessions of auth.Session there are,
// so that one that was ended is refused by every node at once:
//
//	store, err := redissessions.Open(redissessions.Config{URL: "redis://sessions.internal:6379", Name: "shop"})
//	...
//	defer store.Close()
//	sessions := auth.Session(auth.SessionConfig{Secret: secret, Store: store})
//	...
//	err = sessions.SignOutEverywhere(ctx, "ada")
//
// A subject's sessions are one sorted set, "{shop}:" and a hash of the subject, with ids and when each ends, in milliseconds since
// 1970 by the clocks of the nodes. Names, roles and claims are not there: they stay in the encrypted cookie, and nobody who can read
// or write the Redis can make a session without the secret. Who can write it can end sessions, and bring back one that was ended.
//
// Addresses are as in docs/addresses.md. The server must not forget what it has: appendonly yes, maxmemory-policy noeviction; a
// session that it forgets is signed out. Where it has replicas, SignIn and SignOut return when all that are online have it, so
// that a session that was ended stays so when one takes over; replicas=n in the address sets how many. User accounts (ACL) need
// the commands HELLO, CLIENT, SELECT, PING, ZADD, ZREM, ZSCORE, ZCARD, ZREMRANGEBYSCORE, ZREMRANGEBYRANK, ZREVRANGE, PEXPIREAT, DEL, EVAL
// and EVALSHA, and the keys "{shop}:*"; where the server has replicas also INFO, ROLE, WAIT and SET.
package redissessions
