//go:build !linux

package main

import "log"

func main() { log.Fatal("epoll is there on Linux only") }
