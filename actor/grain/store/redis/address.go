package redis

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/transport"
)

const (
	defaultPort = "6379"
	dialLimit   = 2 * time.Second // for a connection that is made again
	answerLimit = 5 * time.Second // for a server that says nothing: its connection is given up
)

// options reads a URL, of which no part is silently without effect.
func options(at *url.URL, config store.Config) (option rueidis.ClientOption, prefix string, err error) {
	fault := func(format string, arguments ...any) error {
		return fmt.Errorf("store: the address %q %w", at.Redacted(), fmt.Errorf(format, arguments...))
	}
	if at.Opaque != "" || at.Fragment != "" || at.Host == "" {
		return option, "", fault("is not %s://host:port/database", at.Scheme)
	}
	option = rueidis.ClientOption{
		ClientName: config.Name, DisableCache: true,
		DisableRetry:     true, // what is done again is for package store to say
		AlwaysPipelining: true, // else a context that is cancelled is noticed only at its deadline
		ConnWriteTimeout: answerLimit, Dialer: net.Dialer{Timeout: dialLimit},
	}
	for host := range strings.SplitSeq(at.Host, ",") {
		one := url.URL{Scheme: at.Scheme, Host: host}
		if host == "" || strings.ContainsAny(host, "/?#@ ") || strings.Count(host, ":") > 1 && !strings.HasPrefix(host, "[") {
			return option, "", fault("has the host %q: want host or host:port", host)
		}
		if one.Port() == "" {
			one.Host = net.JoinHostPort(one.Hostname(), defaultPort)
		}
		addr, err := transport.DialAddr(&one)
		if err != nil {
			return option, "", fault("has the host %q: %w", host, err)
		}
		option.InitAddress = append(option.InitAddress, addr)
	}
	option.ForceSingleClient = len(option.InitAddress) == 1
	if at.User != nil {
		option.Username = at.User.Username()
		option.Password, _ = at.User.Password()
	}
	if path := strings.TrimPrefix(at.Path, "/"); path != "" {
		database, err := strconv.ParseUint(path, 10, 16)
		if err != nil {
			return option, "", fault("has the database %q: want a number, or none", path)
		}
		if database != 0 && !option.ForceSingleClient {
			return option, "", fault("has a database, which a Redis Cluster has not")
		}
		option.SelectDB = int(database)
	}
	if prefix, err = prefixOf(at); err != nil {
		return option, "", fault("has %w", err)
	}
	if at.Scheme != "rediss" {
		if config.TLS != nil {
			return option, "", fault("would not be encrypted, although there is a TLS configuration: use rediss://")
		}
		return option, prefix, nil
	}
	host := at.Hostname()
	if !option.ForceSingleClient {
		host = "" // each server's own
	}
	option.TLSConfig, err = clientTLS(config.TLS, host)
	return option, prefix, err
}

// clientTLS is the configuration for one server, or for any where the host is empty.
func clientTLS(config *tls.Config, host string) (*tls.Config, error) {
	if host != "" {
		return transport.ClientTLS(config, host)
	}
	if config == nil {
		return &tls.Config{MinVersion: tls.VersionTLS13}, nil
	}
	return config.Clone(), nil
}

func prefixOf(at *url.URL) (string, error) {
	query, err := url.ParseQuery(at.RawQuery)
	if err != nil {
		return "", fmt.Errorf("parameters that cannot be read: %w", err)
	}
	prefix := "sabir"
	for parameter, values := range query {
		if parameter != "prefix" || len(values) != 1 {
			return "", fmt.Errorf("the parameter %q, or more than one of it; known is prefix", parameter)
		}
		prefix = values[0]
	}
	if prefix == "" || strings.ContainsFunc(prefix, foreign) {
		return "", fmt.Errorf("the prefix %q: want letters, digits, '.', '_' and '-'", prefix)
	}
	return prefix, nil
}

// foreign tells what is not in a prefix. A colon ends it, so that grains of different prefixes cannot meet.
func foreign(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-'
}
