package environment_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/pkg/agent/environment"
)

// needsGradle skips a test where the gradle command or a compiler of Java is not installed.
func needsGradle(t *testing.T) {
	t.Helper()
	for _, program := range []string{"gradle", "javac"} {
		needs(t, program)
	}
}

// compiled returns the class of a Java source, by its path without suffix.
func compiled(t *testing.T, class, source string) string {
	t.Helper()
	file := filepath.Base(class) + ".java"
	dir := write(t, map[string]string{file: source})
	cmd := exec.CommandContext(t.Context(), "javac", "--release", "8", "-Xlint:none", "-d", ".", file)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(filepath.Join(dir, class+".class"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// gradleFiles is a build of two projects. Its scripts record what they see in the fetch.
func gradleFiles(url string) map[string]string {
	return map[string]string{
		"settings.gradle": "rootProject.name = 'x'\ninclude ':app'\n",
		"build.gradle":    "allprojects { repositories { maven { url '" + url + "/' } } }\nprintln 'sees source ' + file('app/src/main/java/App.java').exists() + ', offline ' + gradle.startParameter.offline\n",
		"app/build.gradle": `apply plugin: 'java'
dependencies { compile 'com.example:left:1.0.0' }
task tell(type: JavaExec) { main = 'App'; classpath = sourceSets.main.runtimeClasspath }
compileJava { sourceCompatibility = '8'; targetCompatibility = '8' }
`,
		"app/src/main/java/App.java": `public class App { public static void main(String[] a) { System.out.println("value " + left.Left.VALUE); } }`,
		"README.md":                  "",
	}
}

func TestPackagesOfGradleAreFetchedOnceAndLaterRunsHaveThemWithoutNetwork(t *testing.T) {
	needsGradle(t)
	r := newRegistry(t)
	serveArtifact(t, r, "com.example", "left", "1.0.0", map[string]string{"left/Left.class": compiled(t, "left/Left", "package left; public class Left { public static int VALUE = 42; }")})
	s, box := r.store(t)
	files := gradleFiles(r.URL)
	dir := write(t, files)
	layer, made := prepare(t, s, dir, "gradle")
	if !made || r.requests.Load() == 0 {
		t.Fatalf("made %v with %d requests", made, r.requests.Load())
	}
	before := r.requests.Load()
	got := sh(t, box, dir, "gradle tell 2>&1 && echo x > $GRADLE_USER_HOME/x", layer)
	if !got.OK() || !strings.Contains(string(got.Output), "value 42") || !strings.Contains(string(got.Output), "sees source true, offline true") {
		t.Errorf("%s: %s", got, got.Output)
	}
	if got := sh(t, box, dir, "for f in $(find -L $GRADLE_USER_HOME -name 'left*.jar'); do echo x > $f && exit 3; done; ls $GRADLE_USER_HOME/x", layer); got.ExitCode != 2 {
		t.Errorf("a run can change the layer: %s: %s", got, got.Output)
	}
	files["app/src/main/java/App.java"] += "// another\n"
	if _, made := prepare(t, s, write(t, files), "gradle"); made || r.requests.Load() != before {
		t.Error("another source makes another layer")
	}
}

// launcher stands for the program of a distribution. It runs the gradle of this machine.
const launcher = `package org.gradle.launcher;
public class GradleMain { public static void main(String[] args) throws Exception {
	java.util.List<String> all = new java.util.ArrayList<>(java.util.Arrays.asList(args));
	all.add(0, "gradle");
	System.exit(new ProcessBuilder(all).inheritIO().start().waitFor());
} }`

func TestTheProgramOfAWrapperIsFetchedOnceAndLaterRunsHaveIt(t *testing.T) {
	needsGradle(t)
	r := newRegistry(t)
	files := gradleFiles(r.URL)
	dir := write(t, map[string]string{"settings.gradle": ""})
	cmd := exec.CommandContext(t.Context(), "gradle", "--no-daemon", "wrapper")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GRADLE_USER_HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"gradlew", "gradle/wrapper/gradle-wrapper.jar"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(content)
	}
	files["gradle/wrapper/gradle-wrapper.properties"] = "distributionBase=GRADLE_USER_HOME\ndistributionPath=wrapper/dists\nzipStoreBase=GRADLE_USER_HOME\n" +
		"zipStorePath=wrapper/dists\ndistributionUrl=" + r.URL + "/gradle-9-bin.zip\n"
	jar := zipped(t, map[string]string{"org/gradle/launcher/GradleMain.class": compiled(t, "org/gradle/launcher/GradleMain", launcher)})
	var distribution bytes.Buffer
	w := zip.NewWriter(&distribution)
	for _, f := range [][2]string{{"gradle-9/"}, {"gradle-9/bin/"}, {"gradle-9/bin/gradle"}, {"gradle-9/lib/"}, {"gradle-9/lib/gradle-launcher-9.jar", string(jar)}} { // in order
		at, err := w.Create(f[0])
		if err == nil {
			_, err = at.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r.files["/gradle-9-bin.zip"] = distribution.Bytes()
	serveArtifact(t, r, "com.example", "left", "1.0.0", map[string]string{"left/Left.class": compiled(t, "left/Left", "package left; public class Left { public static int VALUE = 42; }")})
	s, box := r.store(t)
	tree := write(t, files)
	layer, _ := prepare(t, s, tree, "gradle")
	before := r.requests.Load()
	if got := sh(t, box, tree, "sh gradlew tell 2>&1", layer); !got.OK() || !strings.Contains(string(got.Output), "value 42") || r.requests.Load() != before {
		t.Errorf("%s with %d requests more: %s", got, r.requests.Load()-before, got.Output)
	}
}

func TestABuildScriptInAFetchHasNoCredentialsAndNoNetworkButThatOfTheRegistry(t *testing.T) {
	needsGradle(t)
	t.Setenv("SECRET_TOKEN", "hidden-value")
	r, other := newRegistry(t), newRegistry(t)
	s, _ := r.store(t)
	dir := write(t, map[string]string{"build.gradle": `
def reached = 'no'
try { new Socket('127.0.0.1', ` + strings.Split(other.host(), ":")[1] + `).close(); reached = 'yes' } catch (IOException e) { }
throw new GradleException("reached ${reached}, token ${System.getenv('SECRET_TOKEN')}, files ${projectDir.list().sort()}")
`, "src/main/java/A.java": "", "secret.txt": ""})
	_, _, err := s.Prepare(t.Context(), dir, environment.Find(os.DirFS(dir))[0])
	if !errors.Is(err, environment.ErrNotPrepared) || other.requests.Load() != 0 {
		t.Fatalf("got %v with %d requests", err, other.requests.Load())
	}
	for _, says := range []string{"reached no, token null, files [.gradle, build.gradle, fetch.sh, log, signalbox.gradle, src]",
		`add to .signalbox.yaml: setup: {command: "./gradlew --no-daemon testClasses"}, with --egress HOST`} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("it does not say %q: %v", says, err)
		}
	}
}

func TestTheFetchOfGradleSeesBuildScriptsAndTheCodeThatTheyAreMadeOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files, want string // separated by spaces
		fetch       string
	}{
		"a build":         {"build.gradle src/main/java/A.java README.md", "build.gradle fetch.sh signalbox.gradle src/.keep", "sh fetch.sh gradle"},
		"one in Kotlin":   {"settings.gradle.kts app/build.gradle.kts app/src/A.kt lib/src/B.kt", "app/build.gradle.kts app/src/.keep fetch.sh lib/src/.keep settings.gradle.kts signalbox.gradle", "sh fetch.sh gradle"},
		"locks":           {"build.gradle gradle.properties gradle.lockfile buildscript-gradle.lockfile gradle/libs.versions.toml gradle/verification-metadata.xml gradle/dependency-locks/a.lockfile local.properties", "build.gradle buildscript-gradle.lockfile fetch.sh gradle.lockfile gradle.properties gradle/dependency-locks/a.lockfile gradle/libs.versions.toml gradle/verification-metadata.xml signalbox.gradle", "sh fetch.sh gradle"},
		"a wrapper":       {"build.gradle gradlew gradlew.bat gradle/wrapper/gradle-wrapper.jar gradle/wrapper/gradle-wrapper.properties", "build.gradle fetch.sh gradle/wrapper/gradle-wrapper.jar gradle/wrapper/gradle-wrapper.properties gradlew signalbox.gradle", "sh fetch.sh sh gradlew"},
		"half a wrapper":  {"build.gradle gradlew", "build.gradle fetch.sh gradlew signalbox.gradle", "sh fetch.sh gradle"},
		"buildSrc":        {"build.gradle buildSrc/build.gradle buildSrc/src/main/groovy/build/x.groovy buildSrc/src/test/groovy/y.groovy", "build.gradle buildSrc/build.gradle buildSrc/src/main/groovy/build/x.groovy fetch.sh signalbox.gradle", "sh fetch.sh gradle"},
		"what a run left": {"build.gradle build/x.gradle .gradle/y.gradle node_modules/z.gradle", "build.gradle fetch.sh signalbox.gradle", "sh fetch.sh gradle"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{}
			for file := range strings.FieldsSeq(c.files) {
				tree[file] = &fstest.MapFile{Data: []byte("x")}
			}
			r := environment.Find(tree)[0]
			var sees []string
			for file := range r.Files {
				sees = append(sees, file)
			}
			slices.Sort(sees)
			if got := strings.Join(sees, " "); got != c.want || strings.Join(r.Fetch, " ") != c.fetch {
				t.Errorf("%q sees %s", r.Fetch, got)
			}
		})
	}
	tree := fstest.MapFS{"settings.gradle": {Data: []byte(`includeBuild("build-logic")`)}, "build-logic/src/main/java/L.java": {Data: []byte("x")}, "lib/src/main/java/M.java": {Data: []byte("x")}}
	files := environment.Find(tree)[0].Files
	if files["build-logic/src/main/java/L.java"] == "" || files["lib/src/main/java/M.java"] != "" {
		t.Errorf("the fetch sees %v", files)
	}
}
