package main

import (
	"go-micro.dev/v5/client"
	"go-micro.dev/v5/server"
)

var newServer, newClient = server.NewServer, client.NewClient
