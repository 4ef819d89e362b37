# What a reader of docs/start types, from an empty folder to a node that was killed. scripts_test.go runs it: source gives it the
# program of a step, and up waits until an address answers.

# doc: module
mkdir hello && cd hello
go mod init hello
go mod edit -require=github.com/sabir-go/sabir@v0.0.0 -replace=github.com/sabir-go/sabir=../sabir
# end

# doc: install
(cd ../sabir && go install ./cmd/sabir)
# end

# doc: version
sabir version
# end

source service

# doc: first-service
go mod tidy
go run .
# end

source web

# doc: serve
go mod tidy
go build -o hello .
./hello &
# end
up localhost:3000

# doc: curl
curl localhost:3000/greeter/hello -H 'Content-Type: application/json' -d '{"name":"Ada"}'
# end

# doc: curl-invalid
curl localhost:3000/greeter/hello -H 'Content-Type: application/json' -d '{}'
# end

# doc: curl-list
curl localhost:3000/
# end

# doc: serve-stop
kill %1
# end
wait

source node

# doc: two-nodes
go mod tidy
go build -o hello .
./hello -id one -http :3000 &
./hello -id two -http :3001 &
# end
up localhost:3000 && up localhost:3001
two() { [ "$(sabir nodes --join tcp://:7700 2>&1 | grep -c running)" = 2 ]; }
for i in {1..300}; do if two; then break; fi; sleep 0.1; done
two

# doc: nodes
sabir nodes --join tcp://:7700
# end

# doc: call
sabir call greeter.hello name=Ada --join tcp://:7700
sabir call greeter.hello name=Ada --to two --join tcp://:7700
# end

# doc: kill
(sleep 2; kill -9 $!) &
sabir bench greeter.hello name=Ada --retry -d 4s --join tcp://:7700
# end

# doc: still-there
sabir nodes --join tcp://:7700
curl localhost:3000/greeter/hello -H 'Content-Type: application/json' -d '{"name":"Ada"}'
# end
