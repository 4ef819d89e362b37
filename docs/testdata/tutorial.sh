# What a reader of docs/tutorial types.

in_checkout
go run ./examples/tutorial/03-http &
up localhost:3000

# doc: order
curl localhost:3000/orders -H 'Content-Type: application/json' -d '{"userId":"u-1","item":"lamp","count":2}'
curl localhost:3000/orders/o-1
# end

# doc: too-much
curl localhost:3000/orders -H 'Content-Type: application/json' -d '{"userId":"u-1","item":"compass","count":6}'
# end

cd "$HOME"
# doc: client
sabir gen ts -o api.ts
# end
