package docs

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/lease"
)

// doc: fenced
// appendFenced adds a line to the list KEYS[2], unless a later holder of the lease has written; KEYS[1] keeps the highest token.
var appendFenced = rueidis.NewLuaScript(`
if tonumber(redis.call('GET', KEYS[1]) or 0) > tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('RPUSH', KEYS[2], ARGV[2])
return 1`)

var errFenced = errors.New("another holder of the lease has written: stop")

func write(ctx context.Context, db rueidis.Client, token, line string) error {
	written, err := appendFenced.Exec(ctx, db, []string{"{report}token", "{report}lines"}, []string{token, line}).AsInt64()
	if err == nil && written == 0 {
		err = errFenced
	}
	return err
}

// end

func TestAnOldHolderOfALeaseWritesNoMoreToRedis(t *testing.T) {
	options, err := rueidis.ParseURL(brokers.ForTest(t, brokers.Redis).URL())
	if err != nil {
		t.Fatal(err)
	}
	options.DisableCache = true
	db, err := rueidis.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	st, err := store.Open(t.Context(), "mem://fenced")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	leases := lease.New(st, lease.Config{})
	lead := func(name string) (late func() error) {
		t.Helper()
		err := leases.Lead(t.Context(), "report", func(ctx context.Context) error {
			// doc: fenced-write
			token := strconv.FormatUint(lease.FromContext(ctx).Token(), 10)
			err := write(ctx, db, token, "made by "+name)
			// end
			late = func() error { return write(t.Context(), db, token, "too late") }
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return late
	}
	first := lead("a")
	if err := first(); err != nil {
		t.Errorf("nobody else has written: %v", err)
	}
	lead("b")
	if err := first(); !errors.Is(err, errFenced) {
		t.Errorf("the old holder got %v", err)
	}
	lines, err := db.Do(t.Context(), db.B().Lrange().Key("{report}lines").Start(0).Stop(-1).Build()).AsStrSlice()
	if err != nil || len(lines) != 3 || lines[2] != "made by b" {
		t.Errorf("the lines are %q, %v", lines, err)
	}
}
