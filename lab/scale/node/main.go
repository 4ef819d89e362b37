// Program node is one node of the clusters that "lab scale" measures.
package main

import (
	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/scale/member"
)

func main() { child.Main(member.Start) }
