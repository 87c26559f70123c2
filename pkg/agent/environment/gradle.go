package environment

import (
	_ "embed"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

//go:embed gradle.sh
var fetchGradle string

//go:embed fetch.gradle
var gradleTask string

// gradleRoots are the files that start a build of Gradle, the first one that is there by its name.
var gradleRoots = []string{"settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts"}

// gradleFiles matches the files that a fetch of Gradle sees anywhere below the root.
var gradleFiles = lazyregexp.New(`(^|/)([^/]+\.gradle(\.kts)?|gradle\.properties|([^/]+-)?gradle\.lockfile|gradle/dependency-locks/[^/]+\.lockfile|[^/]+\.versions\.toml|` +
	`gradle/verification-[^/]+|gradle/wrapper/gradle-wrapper\.(jar|properties)|gradlew)$`)

// includedBuild matches the directory of a build that a settings file includes.
var includedBuild = lazyregexp.New(`includeBuild[ (]*["']([^"']+)["']`)

// maxGradleFiles limits the files that a fetch of Gradle sees.
const maxGradleFiles = 5000

// helpGradle is the line that helps where the packages of Gradle are not fetched.
const helpGradle = `. If the tests need it, add to .signalbox.yaml: setup: {command: "./gradlew --no-daemon testClasses"}, with --egress HOST for each of its hosts, or run the agents in an image that has the packages`

// gradle finds a build of Gradle. Its build scripts are code and run in the fetch, with the code
// of buildSrc and of included builds that they are made of. Of all else the fetch sees that a
// directory src is there.
func gradle(tree fs.FS) (Recipe, bool) {
	i := slices.IndexFunc(gradleRoots, func(name string) bool { return exists(tree, name) })
	if i < 0 {
		return Recipe{}, false
	}
	r := Recipe{Tool: "gradle", Source: gradleRoots[i], Files: map[string]string{"fetch.sh": fetchGradle, "signalbox.gradle": gradleTask}, Help: helpGradle}
	if exists(tree, "gradlew") && exists(tree, "gradle/wrapper/gradle-wrapper.jar") && exists(tree, "gradle/wrapper/gradle-wrapper.properties") {
		r.Fetch = []string{"sh", "fetch.sh", "sh", "gradlew"}
	} else {
		r.Fetch, r.Needs = []string{"sh", "fetch.sh", "gradle"}, []string{"gradle"}
	}
	logic := []string{"buildSrc"}
	for _, m := range includedBuild.FindAllStringSubmatch(read(tree, "settings.gradle")+read(tree, "settings.gradle.kts"), -1) {
		logic = append(logic, path.Clean(m[1]))
	}
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return nil // the fetch does not see it
		case len(r.Files) > maxGradleFiles:
			return fs.SkipAll
		case d.IsDir() && (slices.Contains([]string{".git", ".gradle", "node_modules"}, base) || base == "build" && !strings.Contains(name, "src/")):
			return fs.SkipDir
		case d.IsDir() && base == "src":
			if !slices.ContainsFunc(logic, func(dir string) bool { return strings.HasPrefix(name, dir+"/") }) {
				r.Files[name+"/.keep"] = ""
				return fs.SkipDir
			}
		case d.Type().IsRegular() && (gradleFiles.MatchString(name) || slices.ContainsFunc(logic, func(dir string) bool { return strings.HasPrefix(name, dir+"/src/main/") })):
			r.Files[name] = read(tree, name)
		}
		return nil
	})
	return r, true
}
