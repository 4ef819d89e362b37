package nacos

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/moduleversion"
)

const (
	// maxAnswer bounds what Nacos answers at once, such as a list of instances.
	maxAnswer = 8 << 20
	// answerTimeout bounds the wait for an answer.
	answerTimeout = 5 * time.Second
	// registerTimeout bounds the wait until the server knows a new connection.
	registerTimeout = 5 * time.Second
	// healthInterval is how often the server is asked whether it is there. It ends connections over pings of HTTP/2.
	healthInterval = 5 * time.Second
)

// payload is the one message of Nacos's gRPC services: a request or an answer as JSON, with its type.
type payload struct {
	Metadata metadata `protobuf:"2"`
	Body     body     `protobuf:"3"`
}

type metadata struct {
	Type    string            `protobuf:"3"`
	Headers map[string]string `protobuf:"7"`
}

type body struct {
	Value []byte `protobuf:"2"`
}

// messages is the codec of payloads, for gRPC.
type messages struct{}

func (messages) Name() string                        { return "proto" }
func (messages) Marshal(v any) ([]byte, error)       { return protobuf.Codec.Append(nil, v) }
func (messages) Unmarshal(data []byte, to any) error { return protobuf.Codec.Decode(data, to) }

// refusal is the error of a request that Nacos has answered.
type refusal struct {
	ResultCode int    `json:"resultCode"`
	ErrorCode  int    `json:"errorCode"`
	Message    string `json:"message"`
}

func (r *refusal) Error() string {
	if r.ErrorCode == noRight || r.ResultCode == noRight {
		return fmt.Sprintf("Nacos refuses it (%s): give User and Password of a user who may read and write the namespace", r.Message)
	}
	return fmt.Sprintf("Nacos answers %d: %s", cmp.Or(r.ErrorCode, r.ResultCode), r.Message)
}

// Codes of refusals.
const (
	answered     = 200 // no refusal
	notFound     = 300
	unregistered = 301 // the server does not know the connection yet
	noRight      = 403
)

// connection is one to a server. What is entered by it ends with it.
type connection struct {
	conn   *grpc.ClientConn
	stream grpc.ClientStream
	token  tokens
	log    *slog.Logger
	told   func(kind string, text []byte) // of what the server tells; set before receive
	end    context.CancelFunc

	sending sync.Mutex
}

// connect makes a connection that the server knows.
func (r *Registry) connect(ctx context.Context, log *slog.Logger, token tokens) (*connection, error) {
	address, err := grpcAddress(token.server)
	if err != nil {
		return nil, err
	}
	security := insecure.NewCredentials()
	if r.TLS != nil {
		security = credentials.NewTLS(r.TLS.Clone())
	}
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(security), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(messages{}), grpc.MaxCallRecvMsgSize(maxAnswer)))
	if err != nil {
		return nil, err
	}
	streaming, end := context.WithCancel(context.WithoutCancel(ctx))
	c := &connection{conn: conn, token: token, log: log, end: end}
	if err := c.register(ctx, streaming, r.Namespace); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// register makes the connection known to the server. Its stream ends with streaming.
func (c *connection) register(ctx, streaming context.Context, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, c.end) // the start of the stream has no other time limit
	defer stop()
	err := c.ask(ctx, "ServerCheckRequest", struct{}{}, nil)
	if status.Code(err) == codes.Unavailable {
		err = fmt.Errorf("it needs gRPC at %s: %w", c.conn.Target(), err)
	}
	if err != nil {
		return err
	}
	c.stream, err = c.conn.NewStream(streaming, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/BiRequestStream/requestBiStream")
	if err != nil {
		return err
	}
	setup := map[string]any{"clientVersion": "Sabir-Go:" + moduleversion.Current, "tenant": namespace, "labels": map[string]string{"source": "sdk", "module": "naming"}, "clientAbilities": struct{}{}}
	if err := c.send("ConnectionSetupRequest", setup); err != nil {
		return err
	}
	for {
		err := c.ask(ctx, "HealthCheckRequest", struct{}{}, nil)
		if err == nil && !stop() {
			return ctx.Err()
		}
		var refused *refusal
		if !errors.As(err, &refused) || refused.ErrorCode != unregistered {
			return err
		}
		if backoff.Sleep(ctx, 20*time.Millisecond) != nil {
			return err
		}
	}
}

func (c *connection) close() {
	c.end()
	c.conn.Close()
}

func message(kind string, v any, headers map[string]string) (*payload, error) {
	text, err := json.Marshal(v)
	return &payload{Metadata: metadata{Type: kind, Headers: headers}, Body: body{text}}, err
}

// send sends a message by the stream.
func (c *connection) send(kind string, v any) error {
	m, err := message(kind, v, nil)
	if err != nil {
		return err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	return c.stream.SendMsg(m)
}

// ask makes a request, and reads the answer into a pointer, nil for one of which nothing is needed.
func (c *connection) ask(ctx context.Context, kind string, request, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	headers, err := c.token.headers(ctx)
	if err != nil {
		return err
	}
	m, err := message(kind, request, headers)
	if err != nil {
		return err
	}
	var reply payload
	if err := c.conn.Invoke(ctx, "/Request/request", m, &reply); err != nil {
		return err
	}
	var outcome refusal
	if err := json.Unmarshal(reply.Body.Value, &outcome); err != nil {
		return fmt.Errorf("the answer to %s cannot be read: %w", kind, err)
	}
	if outcome.ResultCode != answered {
		return &outcome
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(reply.Body.Value, answer); err != nil {
		return fmt.Errorf("the answer to %s cannot be read: %w", kind, err)
	}
	return nil
}

// errReset is the error of a connection that the server wants to be made to another.
var errReset = errors.New("the server has asked for a new connection")

// receive takes what the server tells until the connection ends. Each request of the server is answered: it ends connections that do not.
func (c *connection) receive() error {
	for {
		var m payload
		if err := c.stream.RecvMsg(&m); err != nil {
			return err
		}
		var request struct {
			ID string `json:"requestId"`
		}
		_ = json.Unmarshal(m.Body.Value, &request) // without an id the answer has none
		answers := map[string]string{"NotifySubscriberRequest": "NotifySubscriberResponse", "ConfigChangeNotifyRequest": "ConfigChangeNotifyResponse",
			"ClientDetectionRequest": "ClientDetectionResponse", "ConnectResetRequest": "ConnectResetResponse", "SetupAckRequest": "SetupAckResponse"}
		kind := answers[m.Metadata.Type]
		if kind == "" {
			c.log.Debug("Nacos has sent a request of an unknown type", "type", m.Metadata.Type)
			continue
		}
		c.told(m.Metadata.Type, m.Body.Value)
		if err := c.send(kind, map[string]any{"resultCode": answered, "success": true, "requestId": request.ID}); err != nil {
			return err
		}
		if m.Metadata.Type == "ConnectResetRequest" {
			return errReset
		}
	}
}

// watch asks whether the server is there, until it is not or ctx ends.
func (c *connection) watch(ctx context.Context) error {
	for failed := 0; failed < 2; {
		if backoff.Sleep(ctx, healthInterval) != nil {
			return nil
		}
		failed++
		err := c.ask(ctx, "HealthCheckRequest", struct{}{}, nil)
		if err == nil {
			failed = 0
		}
		var refused *refusal
		if errors.As(err, &refused) && refused.ErrorCode == unregistered { // the server has forgotten the connection, and what was entered with it
			return err
		}
	}
	return errors.New("the server does not answer")
}
