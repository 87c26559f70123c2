package bench

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// scrape returns the sum of a metric of several orchestrators.
func scrape(ctx context.Context, urls []string, name string) (sum float64, err error) {
	for _, url := range urls {
		v, err := scrapeOne(ctx, url, name)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", url, err)
		}
		sum += v
	}
	return sum, nil
}

func scrapeOne(ctx context.Context, url, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}
