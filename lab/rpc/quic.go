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
	"github.com/sabir-go/sabir/lab/rpc/work"
)

const quicProtocol = "lab"

// quicStreams has streams that stay open, all in one connection.
var quicStreams = streams{serve: serveQUIC, dial: dialQUICStreams}

// quicPerCall opens a stream for each call, in one connection; its end is the message's end.
func quicPerCall() work.Contender {
	return work.Contender{
		Name: "quic-go, stream per call",
		Serve: func(address string) (func(), error) {
			return serveQUIC(address, func(stream io.ReadWriter) {
				defer stream.(io.Closer).Close()
				request, err := io.ReadAll(stream)
				if err != nil {
					return
				}
				if reply, err := work.AnswerProto(request); err == nil {
					stream.Write(reply)
				}
			})
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			conn, err := dialQUIC(address)
			if err != nil {
				return nil, err
			}
			return &work.Client{Close: func() { conn.CloseWithError(0, "") }, Say: work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
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

// quicConfig lets as many streams be open as there may be callers, and keeps connections between measurements; the rest is the
// default.
func quicConfig() *quic.Config {
	return &quic.Config{MaxIncomingStreams: 20_000, KeepAlivePeriod: 10 * time.Second}
}

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
