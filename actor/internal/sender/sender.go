// Package sender lets package grain find the grains of the system that an actor.Sender belongs to. Package actor sets the function; its
// type names one of its own, which this package cannot import.
package sender

// System is a func(actor.Sender) *actor.System.
var System any
