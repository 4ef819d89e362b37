package dubbo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/sabir-go/sabir/codec/hessian"
)

// askTriple is ask for an instance that serves tri:// only.
func (b *bridge) askTriple(ctx context.Context, address, application, revision string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	argument, err := hessian.Codec.Append(nil, revision)
	if err != nil {
		return nil, err
	}
	message := appendWrapper(make([]byte, messageHead), [][]byte{argument}, []string{"java.lang.String"})
	setMessageLength(message)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/"+metadataService+"/"+metadataMethod, bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	h := request.Header
	h.Set("Content-Type", "application/grpc+proto")
	h.Set("Te", "trailers")
	h.Set(headerVersion, metadataVersion)
	h.Set(headerGroup, application)
	h.Set(headerConsumer, b.applicationName())
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols, DisableCompression: true, MaxResponseHeaderBytes: maxHead,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return b.dial(ctx, address) }}
	defer transport.CloseIdleConnections()
	value, err := b.metadataAnswer(transport.RoundTrip(request))
	if err != nil {
		return nil, fmt.Errorf("its metadata service at %s: %w", address, err)
	}
	return value, nil
}

// metadataAnswer reads the value of such an answer.
func (b *bridge) metadataAnswer(response *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := readMessage(response.Body, response.Header.Get(headerEncoding), &b.bodies)
	if err != nil {
		return nil, fmt.Errorf("the answer has no message (the status of HTTP is %d, that of gRPC %q: %s): %w", response.StatusCode, response.Header.Get(headerStatus), firstLine(percentDecode(response.Header.Get(headerMessage))), err)
	}
	b.bodies.free(len(data))
	w, err := readWrapper(data)
	switch {
	case err != nil:
		return nil, err
	case response.Header.Get(headerException) != "":
		return nil, errors.New("it answers with an exception")
	case len(w.values) != 1 || bytes.Equal(w.values[0], []byte{'N'}):
		return nil, errors.New("it does not know the revision that the registry names")
	}
	return w.values[0], nil
}
