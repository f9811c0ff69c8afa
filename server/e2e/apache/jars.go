package apache

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Newest and Reference are the versions that we compare with: the one whose answers we give, and the newest of its line.
const (
	Reference = "4.0.2"
	Newest    = "4.3.1"
)

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>grouplab</groupId><artifactId>apache-kafka</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>VERSION</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>VERSION</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>VERSION</version></dependency>
</dependencies></project>
`

// logPom is what writes the lines of a broker's log; the published jars hold only its interface.
const logPom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>grouplab</groupId><artifactId>apache-kafka-log</artifactId><version>1</version><dependencies>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-reload4j</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
`

// Jars returns the folder with the jars of a released Apache Kafka. They come from the Maven repository that the machine
// is set up for, once, and are kept in the user's cache folder. An error says which program is missing, or what Maven said.
func Jars(version string) (string, error) {
	return bring("kafka-"+version, strings.ReplaceAll(pom, "VERSION", version), "kafka-clients-*.jar")
}

// logJars returns the folder with what writes a log.
func logJars() (string, error) { return bring("kafka-log", logPom, "slf4j-reload4j-*.jar") }

func bring(name, pom, proof string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep Kafka's jars in: %w; set HOME or XDG_CACHE_HOME", err)
	}
	dir := filepath.Join(cache, "grouplab", name)
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return dir, nil
	}
	for _, program := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", fmt.Errorf("there is no %s; install a Java 17 runtime and Maven (.ci/setup interop does)", program)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file := filepath.Join(dir, "pom.xml")
	if err := os.WriteFile(file, []byte(pom), 0o644); err != nil {
		return "", err
	}
	out, err := exec.Command("mvn", "-q", "-B", "-f", file, "dependency:copy-dependencies", "-DoutputDirectory="+dir).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("mvn did not bring %s: %w\n%s", name, err, bytes.TrimSpace(out))
	}
	jars, err := filepath.Glob(filepath.Join(dir, proof))
	if err != nil || len(jars) == 0 {
		return "", errors.Join(fmt.Errorf("mvn ended well, but %s holds no %s; delete it and try again", dir, proof), err)
	}
	return dir, os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644)
}

// Class returns the first of some classes that the jars in a folder hold, for those that moved between Kafka's versions. An
// error says that none is there.
func Class(jars string, names ...string) (string, error) {
	files, err := filepath.Glob(filepath.Join(jars, "kafka*.jar"))
	if err != nil {
		return "", err
	}
	held := map[string]bool{}
	for _, file := range files {
		jar, err := zip.OpenReader(file)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", file, err)
		}
		for _, f := range jar.File {
			held[f.Name] = true
		}
		jar.Close()
	}
	for _, name := range names {
		if held[strings.ReplaceAll(name, ".", "/")+".class"] {
			return name, nil
		}
	}
	return "", fmt.Errorf("no jar of %s holds %s", jars, strings.Join(names, " or "))
}
