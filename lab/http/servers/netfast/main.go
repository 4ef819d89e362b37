// Command netfast serves hello and updateUser with a goroutine for each connection of package net and nothing above it: all
// requests that one read brought are answered with one write.
package main

import (
	"log"
	"net"
	"os"

	"github.com/sabir-go/sabir/lab/http/bare"
)

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn)
	}
}

func serve(conn net.Conn) {
	defer conn.Close()
	in, out := make([]byte, 0, 4096), make([]byte, 0, 4096)
	for {
		if len(in) == cap(in) {
			in = append(make([]byte, 0, 2*cap(in)), in...)
		}
		n, err := conn.Read(in[len(in):cap(in)])
		if err != nil {
			return
		}
		in = in[:len(in)+n]
		answers, used, err := bare.Answer(out[:0], in)
		in, out = in[:copy(in, in[used:])], answers
		if len(answers) > 0 {
			if _, err := conn.Write(answers); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
