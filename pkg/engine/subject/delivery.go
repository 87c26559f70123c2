package subject

import (
	"fmt"
	"strings"
)

// DeliveryStream is the stream of what the forge's webhooks delivered, as it was
// delivered. DeliveryReader is the durable consumer of the gateway on it.
const (
	DeliveryStream = "DELIVERIES"
	DeliveryReader = "gateway"
)

// Deliveries is every subject of DeliveryStream.
const Deliveries = deliveryPrefix + ">"

const deliveryPrefix = "sb.hook."

// Delivery returns the subject of a webhook's delivery. The forge chooses the event's name
// and the id; both are of letters, digits, '_' and '-' alone.
func Delivery(event, id string) (string, error) {
	if err := CheckName(event); err != nil {
		return "", err
	}
	if err := checkDelivery(id); err != nil {
		return "", err
	}
	return deliveryPrefix + event + "." + id, nil
}

// AnyEvent returns the filter of the delivery with the id, whatever its event.
func AnyEvent(id string) (string, error) {
	if err := checkDelivery(id); err != nil {
		return "", err
	}
	return deliveryPrefix + "*." + id, nil
}

// ParseDelivery is the inverse of Delivery.
func ParseDelivery(s string) (event, id string, err error) {
	t, err := cut(s, deliveryPrefix, 2)
	if err != nil {
		return "", "", err
	}
	if err := checkDelivery(t[1]); err != nil {
		return "", "", err
	}
	return t[0], t[1], CheckName(t[0])
}

// checkDelivery returns why s cannot be the id of a delivery.
func checkDelivery(s string) error {
	bad := strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
	if s == "" || len(s) > MaxName || bad {
		return fmt.Errorf("%w: delivery %.70q, want 1 to %d letters, digits, '_' and '-'", ErrInvalid, s, MaxName)
	}
	return nil
}
