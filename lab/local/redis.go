package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// redisConn is the least of a client of Redis: one command at a time on a connection of its own, in RESP 2.
type redisConn struct {
	net.Conn
	in  *bufio.Reader
	out []byte
}

func dialRedis(address string) (*redisConn, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		return nil, err
	}
	return &redisConn{Conn: conn, in: bufio.NewReader(conn)}, nil
}

// ask sends a command and reads its reply, a string or a status.
func (c *redisConn) ask(words ...string) ([]byte, error) {
	c.out = strconv.AppendInt(append(c.out[:0], '*'), int64(len(words)), 10)
	for _, word := range words {
		c.out = strconv.AppendInt(append(c.out, "\r\n$"...), int64(len(word)), 10)
		c.out = append(append(c.out, "\r\n"...), word...)
	}
	if _, err := c.Write(append(c.out, "\r\n"...)); err != nil {
		return nil, err
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '-' {
		return nil, fmt.Errorf("redis answers %s with %q", words[0], line)
	}
	if line[0] != '$' {
		return []byte(line[1:]), nil
	}
	length, err := strconv.Atoi(line[1:])
	if err != nil || length < 0 {
		return nil, fmt.Errorf("redis answers %s with %q", words[0], line)
	}
	data := make([]byte, length+2)
	_, err = io.ReadFull(c.in, data)
	return data[:length], err
}
