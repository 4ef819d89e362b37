// Package moduleversion says which version of Sabir this is.
package moduleversion

// Current is the version of Sabir that a program was built with: "0.1.0", or the next one with "-dev" in a checkout between
// two versions. `sabir version` prints it, with the commit where Go knows it.
const Current = "0.1.0-dev"
