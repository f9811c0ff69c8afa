package render

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"

	"grouplab/lessons"
	"grouplab/lessons/content"
)

// All returns the lessons that the program carries, in the order of their numbers, without drafts.
func All() ([]Lesson, error) {
	all, err := Load(content.FS)
	return slices.DeleteFunc(all, func(l Lesson) bool { return l.Draft }), err
}

var folder = regexp.MustCompile(`^([0-9]{2})-([a-z0-9]+(?:-[a-z0-9]+)*)$`)

// Load reads every folder NN-name of a file system. The first mistake ends it.
func Load(fsys fs.FS) ([]Lesson, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	var all []Lesson
	for _, entry := range entries { // in the order of names, which is that of numbers
		if !entry.IsDir() {
			continue
		}
		m := folder.FindStringSubmatch(entry.Name())
		if m == nil {
			return nil, fmt.Errorf("%s is no lesson: a lesson's folder is NN-name, as in 02-first-member", entry.Name())
		}
		number, _ := strconv.Atoi(m[1])
		l, err := one(fsys, entry.Name(), m[2])
		if err != nil {
			return nil, err
		}
		l.Number = number
		for _, other := range all {
			if other.ID == l.ID || other.Number == l.Number {
				return nil, fmt.Errorf("%s and lesson %d, %s, share a number or an id", entry.Name(), other.Number, other.ID)
			}
		}
		all = append(all, *l)
	}
	return all, nil
}

func one(fsys fs.FS, dir, id string) (*Lesson, error) {
	source, err := fs.ReadFile(fsys, dir+"/script.txt")
	if err != nil {
		return nil, err
	}
	script, err := lessons.LoadFile(dir+"/script.txt", id, string(source))
	if err != nil {
		return nil, err
	}
	var texts [2]*text
	for i, lang := range Langs {
		file := dir + "/" + lang + ".md"
		prose, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		if texts[i], err = cut(file, string(prose)); err != nil {
			return nil, err
		}
		if err := match(script, texts[i]); err != nil {
			return nil, err
		}
	}
	j := joiner{en: texts[0], zh: texts[1], markdown: newMarkdown()}
	l := j.join(script)
	l.Script = string(source)
	return l, j.err
}

// match demands that a text has exactly the sections that the script names.
func match(l *lessons.Lesson, t *text) error {
	want := map[string]bool{}
	var order []string
	need := func(key string) { want[key] = true; order = append(order, key) }
	for _, s := range l.Steps {
		need("step " + s.Name)
		for _, m := range s.Moves {
			need("move " + s.Name + " " + m.Name)
		}
		if at := t.find("step " + s.Name); len(at.hints) < 3 && at.line > 0 && (s.Predict != nil || s.Par > 0) {
			return t.fail(at.line, "step %s has a question or a challenge, so it needs three hints: lines that begin with `? ` at its end; it has %d", s.Name, len(at.hints))
		}
		if s.Predict != nil {
			need("predict " + s.Predict.Name)
			for _, o := range s.Predict.Options {
				need("option " + s.Predict.Name + " " + o.ID)
			}
		}
	}
	for _, g := range l.Goal {
		need("goal " + g.Label)
	}
	for _, s := range l.Solutions {
		need("solution " + s.Name)
	}
	for _, s := range t.sections {
		if !want[s.key()] {
			return t.fail(s.line, "the script of lesson %s has no %s", l.ID, s.key())
		}
		delete(want, s.key())
	}
	for _, key := range order {
		if want[key] {
			return t.fail(t.last, "the text of %s is missing: the script of lesson %s names it", key, l.ID)
		}
	}
	return nil
}
