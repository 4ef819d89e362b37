// Package actortest runs processes in a test step by step: one after another on the test's goroutine, with a clock that the
// test moves, and with probes in the place of the processes they talk to. There is nothing to wait for and nothing that
// comes out differently the next time.
//
//	k := actortest.New(t)
//	db := k.Probe("db")
//	pid := actortest.Spawn(k, orders, Config{DB: db.PID()})
//
//	actortest.Send(k, pid, Place{Item: "tea"})
//	saved := actortest.Expect[Save](t, db)
//
//	actortest.Stub(db, func(q Query) (Rows, error) { return Rows{}, nil })
//	total, err := actortest.Call[int](k, pid, Total{})
//
//	k.Advance(time.Minute) // what was to be sent after a minute comes now
//	db.ExpectNothing(t)
//
// A kit is used by the goroutine of the test. Callbacks of the tested processes run there too, so they must not wait for
// goroutines which need the kit to go on.
package actortest
