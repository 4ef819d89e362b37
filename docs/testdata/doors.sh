# What callers of other tools type, as docs/doors.md and docs/http-streams.md have it.

root=$PWD
in_checkout
go run ./docs/testdata/doors &
cd "$root"
up localhost:3000

# doc: grpc
grpcurl -plaintext localhost:3000 list
grpcurl -plaintext -d '{"id": "7"}' localhost:3000 shop.v1.Users/Get
curl -d '{"id": "7"}' -H 'Content-Type: application/json' localhost:3000/shop.v1.Users/Get
# end

# doc: python
sabir gen proto http://localhost:3000 --package shop.v1 -o shop.proto
python3 -m grpc_tools.protoc -I. --python_out=. --grpc_python_out=. shop.proto
python3 -c 'import grpc, shop_pb2, shop_pb2_grpc as rpc
users = rpc.UsersStub(grpc.insecure_channel("localhost:3000"))
print(users.Get(shop_pb2.GetUser(id="7")))'
# end

# doc: trpc
sabir gen ts http://localhost:3000 --trpc -o router.ts
curl -s localhost:3000/trpc/orders.get -G --data-urlencode 'input={"id":"7"}'
# end

# doc: webhook
curl -i localhost:3000/hooks -H 'Content-Type: application/cloudevents+json' \
  -d '{"specversion":"1.0","id":"1","source":"/them","type":"com.example.orders.placed","data":{"id":"7"}}'
# end

head -c 4711 /dev/zero > a.zip
# doc: upload
curl localhost:3000/files/put --data-binary @a.zip -H 'Content-Type: application/octet-stream' -H 'Accept: application/json'
# end

# doc: upload-put
curl -T a.zip localhost:3000/files/a.zip -H 'Content-Type: application/octet-stream' -H 'Accept: application/json'
# end

curl() { command curl -sS "$@"; }
head -c 1000 /dev/zero > big.bin # what came before the connection broke
# doc: resume
curl -C - -o big.bin -w '%{http_code}, %{size_download} more bytes\n' localhost:3000/files/big.bin
# end
[ $(stat -c %s big.bin) = 1048576 ]
