// Package dashboard is a page that shows a cluster at work: its nodes and links, what its actions do, events as they pass,
// processes and traces; and that calls actions with a form made of their schemas. It is off unless a program asks for it:
//
//	sabir.HTTP(":3000", dashboard.At("/dashboard"))
//
// On a loopback address without a key it is open to every user of the machine, as the rest of the HTTP server is. Otherwise a
// login page asks for the server's key, or for the dashboard's own: see [Config]. The page's files are part of the program; it
// loads nothing from elsewhere.
//
// What it shows comes from actions that the nodes offer: $node of every node, $telemetry of those that serve
// telemetry.Stats, $processes of those with actors, and $traces of those that serve [Ring.Service]. Where a node lacks one,
// the page shows what to add.
//
// While no browser watches, the dashboard costs nothing: no goroutine runs and no event is listened to. While one does, one
// poller asks each node once a second, however many browsers there are; and while one watches events, this node is a
// listener of all of them, so emitters wait until each event has arrived here too.
package dashboard
