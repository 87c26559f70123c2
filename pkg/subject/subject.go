// Package subject builds and parses every NATS subject of Signalbox.
package subject
