module github.com/signalbox/signalbox/proto

go 1.26.0
