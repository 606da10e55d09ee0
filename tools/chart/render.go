// Renders a Helm chart, as `helm template` does: Go's templates with the functions of sprig and of Helm. For tests, because
// Debian has no Helm. It reads {"chart": folder, "jobs": [...]} from stdin, and writes a result for each job to stdout.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type object = map[string]interface{}

type job struct {
	Values    object `json:"values"`
	Release   string `json:"release"`
	Namespace string `json:"namespace"`
}

type result struct {
	// By path of the template, without empty ones.
	Files map[string]string `json:"files,omitempty"`
	// After merging with the defaults.
	Values object `json:"values,omitempty"`
	Error  string `json:"error,omitempty"`
}

// The files of the chart outside of templates, as `.Files`.
type files map[string]string

func (f files) Get(name string) string { return f[name] }

// The set `.Capabilities.APIVersions`; empty.
type versions struct{}

func (versions) Has(string) bool { return false }

func main() {
	var input struct {
		Chart string `json:"chart"`
		Jobs  []job  `json:"jobs"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		fail(err)
	}
	chart, err := load(input.Chart)
	if err != nil {
		fail(err)
	}
	results := []result{}
	for _, each := range input.Jobs {
		values := merged(chart.values, each.Values)
		rendered, err := chart.render(each, values)
		if err != nil {
			results = append(results, result{Values: values, Error: err.Error()})
		} else {
			results = append(results, result{Values: values, Files: rendered})
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

type chart struct {
	metadata  object
	values    object
	templates map[string]string
	files     files
}

func load(folder string) (*chart, error) {
	made := &chart{metadata: object{}, values: object{}, templates: map[string]string{}, files: files{}}
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		switch {
		case err != nil:
			return err
		case name == "Chart.yaml":
			return yaml.Unmarshal(content, &made.metadata)
		case name == "values.yaml":
			return yaml.Unmarshal(content, &made.values)
		case strings.HasPrefix(name, "templates/"):
			made.templates[name] = string(content)
		default:
			made.files[name] = string(content)
		}
		return nil
	})
	return made, err
}

// Objects are merged, everything else is replaced, and null removes a default.
func merged(defaults, given object) object {
	made := object{}
	for name, value := range defaults {
		made[name] = value
	}
	for name, value := range given {
		before, hasObject := made[name].(object)
		after, isObject := value.(object)
		switch {
		case value == nil:
			delete(made, name)
		case hasObject && isObject:
			made[name] = merged(before, after)
		default:
			made[name] = value
		}
	}
	return made
}

func (c *chart) render(each job, values object) (rendered map[string]string, err error) {
	root := template.New("chart").Option("missingkey=zero")
	root.Funcs(functions(root))
	names := []string{}
	for name, text := range c.templates {
		names = append(names, name)
		if _, err := root.New(name).Parse(text); err != nil {
			return nil, err
		}
	}
	sort.Strings(names)
	capitalized := object{}
	for name, value := range c.metadata {
		capitalized[strings.ToUpper(name[:1])+name[1:]] = value
	}
	data := object{
		"Values":       values,
		"Chart":        capitalized,
		"Files":        c.files,
		"Release":      object{"Name": each.Release, "Namespace": each.Namespace, "Service": "Helm", "IsInstall": true, "IsUpgrade": false, "Revision": 1},
		"Capabilities": object{"APIVersions": versions{}, "KubeVersion": object{"Version": "v1.34.0", "Major": "1", "Minor": "34"}},
	}
	rendered = map[string]string{}
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "_") {
			continue
		}
		data["Template"] = object{"Name": name, "BasePath": "templates"}
		var output bytes.Buffer
		if err := root.ExecuteTemplate(&output, name, data); err != nil {
			return nil, err
		}
		text := strings.ReplaceAll(output.String(), "<no value>", "")
		if strings.TrimSpace(text) != "" {
			rendered[name] = text
		}
	}
	return rendered, nil
}

func functions(root *template.Template) template.FuncMap {
	made := sprig.TxtFuncMap()
	delete(made, "env")
	delete(made, "expandenv")
	made["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(text), "\n")
	}
	made["include"] = func(name string, data interface{}) (string, error) {
		var output bytes.Buffer
		err := root.ExecuteTemplate(&output, name, data)
		return output.String(), err
	}
	return made
}
