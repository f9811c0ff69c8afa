package view

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

var placeholder = regexp.MustCompile(`\{\d\}`)

func TestEveryWordIsThereInBothLanguages(t *testing.T) {
	for key, text := range allWords() {
		if strings.TrimSpace(text.En) == "" || strings.TrimSpace(text.Zh) == "" {
			t.Errorf("%s: en %q, zh %q: both must say something", key, text.En, text.Zh)
		}
		en, zh := placeholder.FindAllString(text.En, -1), placeholder.FindAllString(text.Zh, -1)
		slices.Sort(en)
		slices.Sort(zh)
		// A reason that the machine has in English alone is left out of a fact's sentence in Chinese.
		if strings.HasPrefix(key, "says.") && len(en) > len(zh) {
			en = slices.DeleteFunc(en, func(p string) bool { return !slices.Contains(zh, p) })
		}
		if !slices.Equal(en, zh) {
			t.Errorf("%s: placeholders differ: en %v, zh %v", key, en, zh)
		}
	}
}

// allWords are the stage's and the shell's.
func allWords() map[string]Text {
	return merge(words, wordsOfPages, wordsOfWatch, wordsOfRecordingsPage)
}

// used are the string literals of the package's own files: the keys that code asks for are among them.
func used(t *testing.T) map[string]bool {
	literals := map[string]bool{}
	for _, pattern := range []string{"*.go", "*.templ"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "_templ.go") || strings.HasPrefix(file, "strings") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`"([^"\n]*)"`).FindAllStringSubmatch(string(text), -1) {
				literals[m[1]] = true
			}
		}
	}
	return literals
}

func TestEveryKeyThatIsAskedForExists(t *testing.T) {
	asked := regexp.MustCompile(`(\.t|\.rich|\.plain|@both|pageWord|\.T)\("([^"]+)"[,)]`)
	for _, pattern := range []string{"*.go", "*.templ"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range asked.FindAllStringSubmatch(string(text), -1) {
				// The stage has its own table alone.
				_, known := words[m[2]]
				if !known && (strings.HasPrefix(file, "watch") || strings.HasPrefix(file, "brokers")) { // a running cluster's panes have words of their own
					_, known = wordsOfWatch[m[2]]
				}
				if !known && strings.HasPrefix(file, "paste") {
					_, known = wordsOfPaste[m[2]]
				}
				if !known && strings.HasPrefix(file, "recordings") {
					_, known = wordsOfRecordings[m[2]]
				}
				if m[1] == "@both" || m[1] == "pageWord" {
					known = pageWord(m[2]) != Text{}
				}
				if !known && !strings.HasSuffix(m[2], ".") {
					t.Errorf("%s asks for %q, which is not in its table", file, m[2])
				}
			}
		}
	}
}

func TestNoWordIsLeftOver(t *testing.T) {
	literals := used(t)
	prefixes := []string{"why.", "says.", "raw.", "state.says.", "state.short.", "grain.", "title.", "side.", "card.", "truth.", "verb.", "removal.", "tape.txn.", "failed.kind.", "panel.", "deed.",
		"field.", "preset.", "case.", "warn.", "watch.sure.", "watch.mode.", "watch.type.", "watch.sort.", "watch.lost.", "watch.lag."}
	for key := range allWords() {
		if literals[key] {
			continue
		}
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) }) {
			t.Errorf("%q is in the table and nobody asks for it", key)
		}
	}
}

func TestEveryReasonOfTheCoordinatorHasWords(t *testing.T) {
	for _, why := range []event.Why{event.WhyFirstMember, event.WhyNewMember, event.WhyLeaderRejoined, event.WhyMetadataChanged,
		event.WhyMemberLeft, event.WhySessionExpired, event.WhyNewMemberTimeout, event.WhyNotRejoined, event.WhyNotSynced,
		event.WhySyncAppendFailed, event.WhyAllRejoined, event.WhyRebalanceTimeout, event.WhyInitialDelayOver, event.WhyNoMembers,
		event.WhyAssignmentWritten, event.WhyGroupLoaded, event.WhyNotCoordinator, event.WhyPendingJoined, event.WhyPendingExpired,
		event.WhyFirstToJoin, event.WhyLeaderGone, event.WhyLeaderNotRejoined, event.WhyLeaderReplaced, event.WhyStaticRestarted,
		event.WhyGroupFull, event.WhyGroupDeleted, event.WhyOffsetsDeleted, event.WhyOffsetsExpired, event.WhyTopicDeleted, event.WhyNothingLeft,
		event.WhyGroupTooLarge, event.WhyTopicsChanged, event.WhyNotRevoked, event.WhyStaticAway, event.WhyMembersGone, event.WhySecondStep,
		event.WhyBecameConsumer, event.WhyBecameClassic, event.WhyTargetReached, event.WhyMembersJoin, event.WhySeen, event.WhyLeaderAssigned, event.WhyReconciled} {
		if _, ok := allWords()["why."+string(why)]; !ok {
			t.Errorf("no words for %q", why)
		}
	}
}

// concept is a line of the glossary: how a concept is said in Chinese, and what is not written instead.
type concept struct {
	Said  string
	Avoid []string
}

func glossary(t *testing.T) (list []concept) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "lessons", "content", "glossary.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if cells := strings.Split(line, "|"); !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, " ") && len(cells) == 3 {
			list = append(list, concept{strings.TrimSpace(cells[1]), strings.Fields(cells[2])})
		}
	}
	if len(list) < 30 {
		t.Fatalf("the glossary has %d concepts", len(list))
	}
	return list
}

// TestChineseKeepsToTheGlossary: a concept has one name, on the stage as in the lessons. Names of settings and of the
// protocol, and what stands in parentheses, are not words.
func TestChineseKeepsToTheGlossary(t *testing.T) {
	aside := regexp.MustCompile(`（[^）]*）`)
	english := regexp.MustCompile(`[A-Za-z][A-Za-z._-]*`)
	for key, text := range allWords() {
		zh := aside.ReplaceAllString(text.Zh, "")
		words := english.FindAllString(zh, -1)
		for _, c := range glossary(t) {
			for _, a := range c.Avoid {
				if a[0] < 0x80 && slices.Contains(words, a) || a[0] >= 0x80 && strings.Contains(zh, a) {
					t.Errorf("%s: %q says %s, the glossary says %s", key, text.Zh, a, c.Said)
				}
			}
		}
	}
}

// TestBothLanguagesDiffer finds what was never translated: only names are the same in both.
func TestBothLanguagesDiffer(t *testing.T) {
	names := []string{"Go", "broker", "Broker", "producer", "eager", "Empty", "Preparing", "Completing", "Stable", "Dead", "epoch", "Assigning", "Reconciling"}
	for key, text := range allWords() {
		if text.En != text.Zh {
			continue
		}
		for _, word := range regexp.MustCompile(`[A-Za-z]+`).FindAllString(text.En, -1) {
			if !slices.Contains(names, word) {
				t.Errorf("%s is %q in both languages", key, text.En)
			}
		}
	}
}
