module github.com/lucas-clemente/quic-go

go 1.26.0
