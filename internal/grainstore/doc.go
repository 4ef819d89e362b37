// Package grainstore is the interface between stores of grains and the brokers that keep them.
//
// Programs use package actor/grain/store, which is above this one and sees to it that the outcome of writes is certain. A [Driver]
// knows one kind of broker. It is in a package of its own, below broker for example, and registers itself for the schemes of
// its addresses when it is imported. Package internal/storetest tests what every driver must do.
package grainstore
