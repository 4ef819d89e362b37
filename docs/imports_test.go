package docs

// The imports that the pages show.

// doc: import-web
import _ "github.com/sabir-go/sabir/web"

// end

// doc: import-tcp
import _ "github.com/sabir-go/sabir/transport/tcp" // tcp://, tls:// and unix://

// end

// doc: import-nats
import _ "github.com/sabir-go/sabir/broker/nats"

// end

// doc: import-broker
import _ "github.com/sabir-go/sabir/broker/nats" // or …/redis, …/mqtt, …/amqp

// end

// doc: import-quic
import _ "github.com/sabir-go/sabir/transport/quic" // or …/kcp, …/utp

// end

// doc: import-playground
import _ "github.com/sabir-go/sabir/validate/playground"

// end
