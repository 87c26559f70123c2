package environment

import "io/fs"

// gradle finds a build of Gradle, which is code: nothing is fetched for it.
func gradle(tree fs.FS) (Recipe, bool) {
	for _, name := range []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"} {
		if exists(tree, name) {
			return Recipe{Tool: "gradle", Source: name, Lacks: name + ` is code, so the packages that it names are not fetched: add to .signalbox.yaml: ` +
				`setup: {command: "./gradlew --no-daemon testClasses"}, with --egress HOST for each of its hosts, or run the agents in an image that has the packages`}, true
		}
	}
	return Recipe{}, false
}
