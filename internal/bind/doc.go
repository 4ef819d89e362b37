// Package bind finds which action a request of REST form is for, and makes the action's input of it: a [Router] for the
// former, a [Binder] for each route for the latter. Package route defines what a route is.
//
// Nothing here uses reflection, and neither finding nor binding allocates where nothing is escaped or wrong.
package bind
