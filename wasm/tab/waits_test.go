package tab

import (
	"io/fs"
	"strings"
	"testing"

	"grouplab/lessons"
	"grouplab/lessons/content"
	"grouplab/static/view"
)

func TestWaitsInWords(t *testing.T) {
	for condition, want := range map[string][2]string{
		"event CoordinatorFound client=c1":                  {"c1 has found its coordinator", "c1 找到协调者"},
		"state Stable and generation >= 5 and client c3 UP": {"the group is Stable, its generation is 5 or later and c3 is UP", "消费组处于 Stable，到了第 5 代或更晚，c3 处于 UP"},
		"event LogCut epoch=3":                              {"event LogCut epoch=3", "event LogCut epoch=3"},
	} {
		for i, lang := range []view.Lang{view.English, view.Chinese} {
			if got := waitWords(condition, lang); got != want[i] {
				t.Errorf("%q in %s: %q, want %q", condition, lang, got, want[i])
			}
		}
	}
}

// TestEveryWaitHasWords: no learner reads the language of the scripts.
func TestEveryWaitHasWords(t *testing.T) {
	folders, err := fs.ReadDir(content.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		text, _ := source(t, folder.Name())
		l, err := lessons.Load(folder.Name()[3:], text)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range l.Steps {
			if step.Wait == nil {
				continue
			}
			for clause := range strings.SplitSeq(step.Wait.String(), " and ") {
				for _, lang := range []view.Lang{view.English, view.Chinese} {
					if _, ok := clauseWords(clause, lang); !ok {
						t.Errorf("%s, step %s: %q has no words in waitClauses", l.ID, step.Name, clause)
					}
				}
			}
		}
	}
}
