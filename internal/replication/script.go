package replication

import (
	"context"
	"crypto/sha1"
	"encoding/hex"

	"github.com/redis/rueidis"
)

// Script is a Lua script, which a server knows by its hash once it has run there. Replicas that take over do not know it.
type Script struct{ text, hash string }

// NewScript makes a script of its text.
func NewScript(text string) *Script {
	sum := sha1.Sum([]byte(text))
	return &Script{text: text, hash: hex.EncodeToString(sum[:])}
}

// Call is one run of a script.
type Call struct {
	Keys, Args []string
}

// Run does calls of a script, in their order, with the results and the error of [Primary.Do].
func (p *Primary) Run(ctx context.Context, script *Script, calls ...Call) ([]rueidis.RedisResult, error) {
	commands := make([]rueidis.Completed, len(calls))
	for i, c := range calls {
		commands[i] = p.client.B().Evalsha().Sha1(script.hash).Numkeys(int64(len(c.Keys))).Key(c.Keys...).Arg(c.Args...).Build()
	}
	results, err := p.Do(ctx, commands...)
	if said, ok := rueidis.IsRedisErr(results[0].Error()); !ok || !said.IsNoScript() {
		return results, err
	}
	for i, c := range calls {
		commands[i] = p.client.B().Eval().Script(script.text).Numkeys(int64(len(c.Keys))).Key(c.Keys...).Arg(c.Args...).Build()
	}
	return p.Do(ctx, commands...)
}
