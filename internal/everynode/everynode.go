// Package everynode has the extensions that packages give to every node of a program which imports them, such as package channel: without it
// they would need an option.
package everynode

// Extensions make extensions, each a sabir.Extension, one for each node. They are added in init functions and read afterwards only.
var Extensions []func() any
