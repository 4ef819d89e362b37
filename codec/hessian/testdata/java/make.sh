#!/bin/sh
# Makes the vectors in testdata/reply and testdata/extra anew, with the Java library: a JDK 17 and Maven Central are needed.
set -eu
cd "$(dirname "$0")"
jars=$(mktemp -d)
trap 'rm -rf "$jars"' EXIT
for path in com/caucho/hessian/4.0.66/hessian-4.0.66.jar javax/servlet/servlet-api/2.5/servlet-api-2.5.jar; do
	curl -sSf -o "$jars/$(basename "$path")" "https://repo1.maven.org/maven2/$path"
done
sha256sum -c <<SUMS
e640042084a9f23436ce11430c4424832be783e0171f2c6b0e5eb9175a6c01c5  $jars/hessian-4.0.66.jar
c658ea360a70faeeadb66fb3c90a702e4142a0ab7768f9ae9828678e0d9ad4dc  $jars/servlet-api-2.5.jar
SUMS
opens="--add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.math=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED"
for kind in replies:reply extras:extra; do
	mkdir -p "../${kind#*:}"
	java $opens -cp "$jars/*" Arbiter.java "${kind%:*}" "../${kind#*:}"
done
