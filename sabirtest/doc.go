// Package sabirtest helps to test services: a node for the length of a test, stand-ins for the services that it calls, a record of
// what was called, emitted and published, and faults on demand.
//
// A test of a service that calls another one needs neither a network nor that other service:
//
//	func TestAnOrderIsRefusedForAnUnknownUser(t *testing.T) {
//		var fakes sabirtest.Fakes
//		sabirtest.Fake(&fakes, users.Get, func(ctx context.Context, in users.GetUser) (users.User, error) {
//			return users.User{}, users.ErrUnknown
//		})
//		created := sabirtest.Events(&fakes, orders.Created)
//		node := sabirtest.Start(t, sabir.Serve(orders.NewService()), fakes.Serve())
//
//		_, err := orders.Place.Call(t.Context(), node, orders.Order{User: "u-1"})
//		if !errors.Is(err, users.ErrUnknown) || created.Len() > 0 {
//			t.Errorf("%v, %d events", err, created.Len())
//		}
//	}
//
// # Time
//
// A test that runs within [testing/synctest] has a clock of its own, which moves when every goroutine waits. Timeouts, retries, cron
// jobs and the lifetimes of caches pass in an instant there, in the right order. Nodes of one test process work in it, alone or joined
// over "mem://"; brokers and sockets do not, since they are outside of it.
//
// # Files
//
// [Compatible] and [GoldenHTTP] compare with a file of the test. With SABIRTEST_UPDATE=1 in the environment they write it instead.
package sabirtest
