// Command chart holds manifests to the API of Kubernetes and to that of KEDA: it refuses kinds and keys that those do not
// have, and prints how many objects of each kind there are.
//
//	helm template acme deploy/helm --values FILE | chart
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	reader "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// kinds returns an empty object of each kind that the chart may have.
func kinds() map[meta.TypeMeta]any {
	kind := func(version, name string) meta.TypeMeta { return meta.TypeMeta{APIVersion: version, Kind: name} }
	return map[meta.TypeMeta]any{
		kind("apps/v1", "Deployment"):                 &apps.Deployment{},
		kind("batch/v1", "CronJob"):                   &batch.CronJob{},
		kind("v1", "PersistentVolumeClaim"):           &core.PersistentVolumeClaim{},
		kind("v1", "Service"):                         &core.Service{},
		kind("networking.k8s.io/v1", "NetworkPolicy"): &networking.NetworkPolicy{},
		kind("policy/v1", "PodDisruptionBudget"):      &policy.PodDisruptionBudget{},
		kind("keda.sh/v1alpha1", "ScaledObject"):      &scaledObject{},
	}
}

func main() {
	counts, err := check(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var each []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		each = append(each, fmt.Sprintf("%s %d", kind, counts[kind]))
	}
	fmt.Println(strings.Join(each, ", "))
}

// check returns how many objects of each kind a file has, and an error for each that the API would refuse to read.
func check(in io.Reader) (map[string]int, error) {
	counts, names := map[string]int{}, map[string]bool{}
	var errs error
	for documents := reader.NewYAMLReader(bufio.NewReader(in)); ; {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return counts, errs
		}
		if err != nil {
			return counts, errors.Join(errs, err)
		}
		var of struct {
			meta.TypeMeta
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal(text, &of); err != nil || of.Kind == "" { // nothing but comments
			errs = errors.Join(errs, err)
			continue
		}
		counts[of.Kind]++
		name := of.Kind + " " + of.Metadata.Name
		if names[name] || of.Metadata.Name == "" {
			errs = errors.Join(errs, fmt.Errorf("%s: the name is missing, or is there twice", name))
		}
		names[name] = true
		object, ok := kinds()[of.TypeMeta]
		if !ok {
			errs = errors.Join(errs, fmt.Errorf("%s: no kind of %s that this program has", name, of.APIVersion))
		} else if err := yaml.UnmarshalStrict(text, object); err != nil {
			errs = errors.Join(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
}
