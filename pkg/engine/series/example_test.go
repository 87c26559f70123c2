package series_test

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine/series"
)

func ExampleList_Append() {
	two := series.New(1, 2)
	three := two.Append(3)
	fmt.Println(two.Len(), three.Len())
	// Output: 2 3
}
