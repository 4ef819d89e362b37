# What callers of examples/http type, and of the demo: docs/http-streams.md, docs/http-clients.md, docs/mcp.md and docs/cli.md.

root=$PWD
in_checkout
go build -o "$root/orders" ./examples/http
cd "$root"
./orders > log &
up localhost:3000
for_two_seconds() { command curl -sS --max-time 2 "$@" || true; echo; } # what is endless

# doc: place
curl localhost:3000/orders -H 'Content-Type: application/json' -d '{"item":"rope","quantity":2}'
# end

curl() { for_two_seconds "$@"; }
# doc: watch
curl -N localhost:3000/orders/1/watch -H 'Accept: text/event-stream'
# end

(sleep 1; command curl -sS localhost:3000/orders -H 'Content-Type: application/json' -d '{"item":"lamp","quantity":1}' > placed) &
# doc: events
curl -N 'localhost:3000/events?topic=orders.*'
# end
curl() { command curl -sS "$@"; echo; }

# doc: batch
curl localhost:3000/batch -H 'Content-Type: application/json' \
  -d '[{"action":"orders.get","input":{"id":1}},{"action":"orders.get","input":{"id":9}}]'
# end

mkdir src
# doc: gen
sabir gen ts -o src/api.ts                                   # a TypeScript client
sabir gen ts --package @acme/shop -o packages/shop           # the same as an npm package
sabir gen openapi -o openapi.json
sabir gen proto -o shop.proto --lock shop.proto.lock         # proto3; the lock keeps the numbers of fields
curl -s 'http://127.0.0.1:3000/$api' > api.json              # keep it with the sources, and in CI:
sabir gen diff api.json http://127.0.0.1:3000                # exit code 1 where a change breaks callers
# end

sed -i 's/"limit"/"most"/g' api.json # what the description was before somebody renamed the field
set +e
# doc: diff
sabir gen diff api.json http://127.0.0.1:3000
# end
set -e

kill %1
wait
sabir demo > log &
up localhost:3000

# doc: mcp
curl -s localhost:3000/mcp -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
  -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: users_get' -d '{"jsonrpc":"2.0","id":1,"method":"tools/call",
  "params":{"name":"users_get","arguments":{"id":"u-1"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
  "io.modelcontextprotocol/clientCapabilities":{}}}}'
# end

set +e
# doc: json-error
sabir call users.get id=u-99 --json
# end
