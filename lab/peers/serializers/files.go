// Package serializers holds the programs that drive the serializers of other languages for lab/serializers: Moleculer's and the
// Hessian libraries of Node, and those of Java. Each runs as a child process that measures itself; see child.js for what it is
// asked and what it answers.
package serializers

import "embed"

// Files are the programs with their lists of packages. They are installed outside of this module, so that no package's own
// files ever stand in it.
//
//go:embed *.js package.json package-lock.json java/pom.xml java/Peer.java
var Files embed.FS
