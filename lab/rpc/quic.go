package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"time"

	"github.com/quic-go/quic-go"
	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/message"
)

const quicProtocol = "lab"

// quicStreams has streams that stay open, all in one connection.
var quicStreams = streams{network: "udp", serve: serveQUIC, dial: dialQUICStreams}

// quicPerCall opens a stream for each call, in one connection; its end is the message's end.
func quicPerCall() contender {
	return contender{
		name: "quic-go, stream per call", codec: "google protobuf", settings: "1 conn, TLS 1.3", network: "udp", modes: []mode{callMode},
		serve: func(address string) (func(), error) {
			return serveQUIC(address, func(stream io.ReadWriter) {
				defer stream.(io.Closer).Close()
				request, err := io.ReadAll(stream)
				if err != nil {
					return
				}
				if reply, err := answerProto(request); err == nil {
					stream.Write(reply)
				}
			})
		},
		dial: func(address string, callers int) (*client, error) {
			conn, err := dialQUIC(address)
			if err != nil {
				return nil, err
			}
			return &client{close: func() { conn.CloseWithError(0, "") }, say: protoSay(func(request *message.Proto) (*message.Proto, error) {
				return quicCall(conn, request)
			})}, nil
		},
	}
}

func quicCall(conn *quic.Conn, request *message.Proto) (*message.Proto, error) {
	data, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	stream, err := conn.OpenStreamSync(context.Background())
	if err != nil {
		return nil, err
	}
	if _, err := stream.Write(data); err != nil {
		return nil, err
	}
	if err := stream.Close(); err != nil {
		return nil, err
	}
	if data, err = io.ReadAll(stream); err != nil {
		return nil, err
	}
	reply := new(message.Proto)
	return reply, proto.Unmarshal(data, reply)
}

// quicConfig lets as many streams be open as there may be callers; the rest is the default.
func quicConfig() *quic.Config { return &quic.Config{MaxIncomingStreams: 20_000} }

func serveQUIC(address string, handle func(io.ReadWriter)) (func(), error) {
	certificate, err := selfSigned()
	if err != nil {
		return nil, err
	}
	listener, err := quic.ListenAddr(address, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{quicProtocol}}, quicConfig())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			conn, err := listener.Accept(ctx)
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { conn.CloseWithError(0, "") })
			go serveConns(func() (io.ReadWriter, error) { return conn.AcceptStream(ctx) }, handle)
		}
	}()
	return func() { cancel(); listener.Close() }, nil
}

func dialQUIC(address string) (*quic.Conn, error) {
	return quic.DialAddr(context.Background(), address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{quicProtocol}}, quicConfig())
}

func dialQUICStreams(address string, n int) ([]io.ReadWriter, func(), error) {
	conn, err := dialQUIC(address)
	if err != nil {
		return nil, nil, err
	}
	all, _, err := dialAll(n, func() (*quic.Stream, error) { return conn.OpenStreamSync(context.Background()) })
	stop := func() { conn.CloseWithError(0, "") }
	if err != nil {
		stop()
	}
	return all, stop, err
}

// selfSigned is a certificate for loopback, for an hour.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
