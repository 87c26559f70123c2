package model

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Card is what is to be known of a model.
type Card struct {
	Name    string  `json:"name"`    // as the provider calls it, without the day of a version
	In      float64 `json:"in"`      // US dollars for a million tokens
	Out     float64 `json:"out"`     // of answers
	Read    float64 `json:"read"`    // read from the provider's cache
	Written float64 `json:"written"` // written into it; 0: as In
	Window  int64   `json:"window"`  // tokens that it can read, and write, in one request
	Thinks  bool    `json:"thinks"`  // before it answers, in tokens that go back with the conversation
}

// Cards are prices and sizes of models.
type Cards []Card

//go:embed prices.json
var prices []byte

// table is the file of --prices.
type table struct {
	AsOf   string `json:"as_of"`
	Models Cards  `json:"models"`
}

// DefaultCards are as prices.json says, on the day that it names.
func DefaultCards() Cards {
	var t table
	if err := json.Unmarshal(prices, &t); err != nil {
		panic(err) // it is part of the program
	}
	return t.Models
}

// ReadCards reads a file like prices.json. Models that it does not name are as in DefaultCards.
func ReadCards(path string) (Cards, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var t table
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, c := range t.Models {
		if c.Name == "" || c.In < 0 || c.Out < 0 || c.Read < 0 || c.Written < 0 || c.Window < 0 {
			return nil, fmt.Errorf("%s: model %q: want a name, and no number below zero", path, c.Name)
		}
	}
	return append(t.Models, DefaultCards()...), nil
}

// defaultWindow is that of an unknown model.
const defaultWindow = 128_000

// version is what may stand after the name: the day of a version, or a service's tag.
var version = lazyregexp.New(`^(-20\d\d.*|-latest|-preview|[@:].*)?$`)

// of returns the first card of a model. An unknown model has no price.
func (c Cards) of(name string) Card {
	found := Card{}
	for _, card := range c {
		if rest, ok := strings.CutPrefix(name, card.Name); ok && version.MatchString(rest) {
			found = card
			break
		}
	}
	if found.Window == 0 {
		found.Window = defaultWindow
	}
	return found
}

// cost returns what a turn cost. Without a price it has tokens only.
func (c Card) cost(u usage) instance.Cost {
	written := c.Written
	if written == 0 {
		written = c.In
	}
	usd := float64(u.in)*c.In + float64(u.read)*c.Read + float64(u.written)*written + float64(u.out)*c.Out
	return instance.Cost{TokensIn: u.in + u.read + u.written, TokensOut: u.out, USD: usd / 1e6}
}
