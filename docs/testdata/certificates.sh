# The certificates of a cluster, as docs/transports-tls.md makes them.

# doc: make
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=shop CA" \
  -keyout ca.key -out ca.crt
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 -subj "/CN=shop-1" \
  -addext "subjectAltName=DNS:shop-1.example.com,IP:192.0.2.1" -addext "basicConstraints=critical,CA:FALSE" \
  -addext "extendedKeyUsage=serverAuth,clientAuth" -CA ca.crt -CAkey ca.key -keyout node.key -out node.crt
# end
openssl verify -CAfile ca.crt node.crt
