package environment_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/pkg/agent/environment"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// tellPlugin describes a plugin with the goals go-offline and tell. It stands for the plugin
// that resolves packages: both goals want those of the tests.
const tellPlugin = `<plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.8.1</version>
<goalPrefix>dependency</goalPrefix><mojos>%s</mojos></plugin>`

const tellGoal = `<mojo><goal>%s</goal><requiresDependencyResolution>test</requiresDependencyResolution><requiresProject>true</requiresProject>
<implementation>sb.Tell</implementation><language>java</language><instantiationStrategy>per-lookup</instantiationStrategy>
<parameters><parameter><name>artifacts</name><type>java.util.Set</type><required>false</required><editable>false</editable></parameter></parameters>
<configuration><artifacts implementation="java.util.Set" default-value="${project.artifacts}"/></configuration></mojo>`

const tellCode = `package sb;
public class Tell extends org.apache.maven.plugin.AbstractMojo {
	private java.util.Set<org.apache.maven.artifact.Artifact> artifacts;
	public void execute() { for (org.apache.maven.artifact.Artifact a : artifacts) System.out.println("has " + a.getArtifactId() + " " + a.getFile().canRead()); }
}`

// serveArtifact adds an artifact to a registry of Maven.
func serveArtifact(t *testing.T, r *registry, group, name, version string, jar map[string]string) {
	t.Helper()
	at := fmt.Sprintf("/%s/%s/%s/%s-%s", strings.ReplaceAll(group, ".", "/"), name, version, name, version)
	kind := "jar"
	if strings.HasSuffix(name, "-plugin") {
		kind = "maven-plugin"
	}
	r.files[at+".pom"] = fmt.Appendf(nil, `<project><modelVersion>4.0.0</modelVersion><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version><packaging>%s</packaging></project>`,
		group, name, version, kind)
	r.files[at+".jar"] = zipped(t, jar)
}

// serveMaven adds the plugin, what Maven itself asks for with it, and the package left.
func serveMaven(t *testing.T, r *registry) {
	t.Helper()
	for _, program := range []string{"mvn", "javac"} {
		needs(t, program)
	}
	libs, _ := filepath.Glob("/usr/share/maven/lib/*.jar")
	if len(libs) == 0 {
		t.Skip("the libraries of Maven, which compile a plugin, are not in /usr/share/maven/lib")
	}
	dir := write(t, map[string]string{"Tell.java": tellCode})
	cmd := exec.CommandContext(t.Context(), "javac", "--release", "8", "-Xlint:none", "-d", ".", "-cp", strings.Join(libs, ":"), "Tell.java")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the plugin does not compile here: %s", out)
	}
	class, err := os.ReadFile(filepath.Join(dir, "sb/Tell.class"))
	if err != nil {
		t.Fatal(err)
	}
	serveArtifact(t, r, "org.apache.maven.plugins", "maven-dependency-plugin", "3.8.1", map[string]string{
		"sb/Tell.class": string(class), "META-INF/maven/plugin.xml": fmt.Sprintf(tellPlugin, fmt.Sprintf(tellGoal, "go-offline")+fmt.Sprintf(tellGoal, "tell")),
	})
	serveArtifact(t, r, "org.codehaus.plexus", "plexus-utils", "1.1", map[string]string{"x": ""})
	serveArtifact(t, r, "com.example", "left", "1.0.0", map[string]string{"x": ""})
}

func pomOf(dependency, repository string) string {
	return `<project><modelVersion>4.0.0</modelVersion><groupId>com.example</groupId><artifactId>x</artifactId><version>1</version><packaging>pom</packaging>` + repository + `
<dependencies><dependency><groupId>com.example</groupId><artifactId>` + dependency + `</artifactId><version>1.0.0</version><scope>test</scope></dependency></dependencies>
<build><plugins><plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.8.1</version>
<executions><execution><phase>test</phase><goals><goal>tell</goal></goals></execution></executions></plugin></plugins></build></project>`
}

func TestPackagesOfMavenAreFetchedOnceAndLaterRunsHaveThemWithoutNetwork(t *testing.T) {
	t.Parallel()
	for _, mode := range []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock} {
		t.Run(string(mode), func(t *testing.T) {
			r := newRegistry(t)
			serveMaven(t, r)
			s, box := r.storeIn(t, mode, "MAVEN_MIRRORS=<mirrors><mirror><id>stub</id><mirrorOf>*</mirrorOf><url>"+r.URL+"/</url></mirror></mirrors>")
			files := map[string]string{"pom.xml": pomOf("left", "")}
			dir := write(t, files)
			layer, made := prepare(t, s, dir, "maven")
			if !made || r.requests.Load() == 0 {
				t.Fatalf("made %v with %d requests", made, r.requests.Load())
			}
			if got := sh(t, box, dir, "mvn -B -o -fae test 2>&1", layer); !got.OK() || !strings.Contains(string(got.Output), "has left true") {
				t.Errorf("%s: %s", got, got.Output)
			}
			before := r.requests.Load()
			files["src/test/java/XTest.java"] = "x"
			if _, made := prepare(t, s, write(t, files), "maven"); made || r.requests.Load() != before {
				t.Error("another test makes another layer")
			}
		})
	}
}

func TestARepositoryThatAPomNamesIsNotReachedByAFetch(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	serveMaven(t, r)
	s, _ := r.store(t, "MAVEN_MIRRORS=<mirrors><mirror><id>stub</id><mirrorOf>central</mirrorOf><url>"+r.URL+"/</url></mirror></mirrors>")
	dir := write(t, map[string]string{"pom.xml": pomOf("gone", "<repositories><repository><id>other</id><url>https://other.example/m2</url></repository></repositories>")})
	_, _, err := s.Prepare(t.Context(), dir, environment.Find(os.DirFS(dir))[0])
	if !errors.Is(err, environment.ErrNotPrepared) || !strings.Contains(err.Error(), "maven asked for other.example:443: allow it with --egress other.example") || !strings.Contains(err.Error(), "com.example:gone") {
		t.Errorf("got %v", err)
	}
}

func TestTheFetchOfMavenSeesThePomsOfTheModules(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{}
	for name, content := range map[string]string{
		"pom.xml":   "<project><modules><module>a</module><module>../out</module></modules><profiles><profile><modules><module>b/other.xml</module></modules></profile></profiles></project>",
		"a/pom.xml": "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modules><module>c</module></modules></project>", "a/c/pom.xml": "<project/>",
		"b/other.xml": "<project/>", "d/pom.xml": "<project/>", "a/src/main/java/A.java": "",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	var sees []string
	for name := range environment.Find(tree)[0].Files {
		sees = append(sees, name)
	}
	slices.Sort(sees)
	if got := strings.Join(sees, " "); got != "a/c/pom.xml a/pom.xml b/other.xml fetch.sh pom.xml" {
		t.Errorf("the fetch sees %s", got)
	}
}

func TestTheMirrorsOfMavenAreThoseOfTheUsersSettingsWithoutCredentials(t *testing.T) {
	t.Setenv("HOME", write(t, map[string]string{".m2/settings.xml": `<settings><servers><server><id>m</id><password>secret</password></server></servers>
<mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>http://ann:secret@127.0.0.1:8081/m2</url></mirror></mirrors></settings>`}))
	r := environment.Configured(context.Background(), "maven")
	if !slices.Contains(r.Hosts, "127.0.0.1:8081") || !slices.Equal(r.Env, []string{"MAVEN_MIRRORS=<mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>http://127.0.0.1:8081/m2</url></mirror></mirrors>"}) {
		t.Errorf("got %+v", r)
	}
}
