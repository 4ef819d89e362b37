package main

import "github.com/sabir-go/sabir/lab/bus"

// overBus is payloads over a broker, by its bare client.
type overBus bus.Connect

func there(s settings) string { return "lab.there." + s.Cluster }
func back(s settings) string  { return "lab.back." + s.Cluster }

func (connect overBus) serve(address string, s settings) (func(), error) {
	incoming := make(chan []byte, waiting)
	publish, stop, err := connect(address, there(s), func(request []byte) { incoming <- request })
	if err != nil {
		return nil, err
	}
	// Some clients wait for the broker's answer to each publication, and send several at once if several goroutines publish.
	for range waiting {
		go func() {
			for request := range incoming {
				publish(back(s), request) // where it fails the client gets no answer, and the lab says so
			}
		}()
	}
	return stop, nil
}

func (connect overBus) dial(address string, s settings, callers int) ([]echo, func(), error) {
	replies := make([]chan []byte, callers)
	for i := range replies {
		replies[i] = make(chan []byte, 1)
	}
	publish, stop, err := connect(address, back(s), func(reply []byte) {
		if caller, ok := callerOf(reply); ok && caller < callers {
			replies[caller] <- reply
		}
	})
	if err != nil {
		return nil, nil, err
	}
	echoes := make([]echo, callers)
	for i := range echoes {
		echoes[i] = func(request []byte) ([]byte, error) {
			if err := publish(there(s), request); err != nil {
				return nil, err
			}
			return <-replies[i], nil
		}
	}
	return echoes, stop, nil
}
