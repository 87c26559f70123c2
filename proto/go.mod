module github.com/signalbox/signalbox/proto

go 1.26.0

require (
	github.com/planetscale/vtprotobuf v0.6.1-0.20250313105119-ba97887b0a25
	google.golang.org/protobuf v1.36.12
)
