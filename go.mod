module github.com/signalbox/signalbox

go 1.26.0

require (
	cel.dev/cel-go v0.33.2 // indirect
	github.com/alecthomas/kong v1.17.0 // indirect
	github.com/antithesishq/antithesis-sdk-go v0.8.0-default-no-op // indirect
	github.com/cenkalti/backoff/v5 v5.0.3 // indirect
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/gofri/go-github-ratelimit/v2 v2.0.2 // indirect
	github.com/gohugoio/httpcache v0.9.0 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/go-github/v60 v60.0.0 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/lmittmann/tint v1.2.1 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/minio/highwayhash v1.0.4 // indirect
	github.com/nats-io/jwt/v2 v2.8.2 // indirect
	github.com/nats-io/nats-server/v2 v2.15.2 // indirect
	github.com/nats-io/nats.go v1.55.0 // indirect
	github.com/nats-io/nkeys v0.4.16 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	github.com/oklog/run v1.2.0 // indirect
	github.com/prometheus/client_golang v1.23.2 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/synadia-io/orbit.go/jetstreamext v0.3.1 // indirect
	github.com/synadia-io/orbit.go/natsext v0.1.2 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.47.0 // indirect
	golang.org/x/time v0.16.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

require github.com/signalbox/signalbox/proto v0.0.0

replace github.com/signalbox/signalbox/proto => ./proto
