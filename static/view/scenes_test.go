package view

import (
	"regexp"
	"strings"
	"testing"
)

// TestEachSceneShowsWhatItIsAbout looks for the words, in both languages, that a reader needs to see what a scene shows:
// what is drawn is said as well, also to those who do not see it.
func TestEachSceneShowsWhatItIsAbout(t *testing.T) {
	for name, says := range map[string][]string{
		"static-fenced": {"static member, group.instance.id", "fenced", "Heartbeat answered FENCED_INSTANCE_ID (82) by broker 1",
			"i2 belongs to c3 now", "i2-b4c1 was replaced", "i2-f10d was replaced", "静态成员，group.instance.id", "Heartbeat 得到 FENCED_INSTANCE_ID（82）"},
		"pending-id": {"No member yet: c1 was given an id and has not joined", "an id that is no member: it runs out in 7.0", "还没有成员"},
		"txn-open": {"producer 0, epoch 0", "no marker for 2.0", "orders-0 = 5", "UNSTABLE_OFFSET_COMMIT", "tx is aborted in",
			"in a transaction whose marker is not there yet", "COMMIT marker", "所属事务的标记尚未到来"},
		"txn-aborted": {"aborted 0.2", "what the transaction wrote is dropped", "its transaction was aborted: it never counts", "ABORT marker", "所属事务已中止"},
		"expiring":    {"its offsets expire in", "the group is Empty, and offsets.retention.minutes is 2", "The clean-up job looks in 45.5", "该组处于 Empty"},
		"expired": {"removed 20", "retention is over", "old-0 no value a tombstone: it deletes its key", "1 kept: members read the topic", "overwritten at 5",
			"删除它的键"},
		"compacted": {"28 compacted away; offsets stay", "above: compacted; below: dirty", "3 of 31 records left", "28 × a newer record has the same key",
			"newer record at 29", "28 条被压实移除"},
		"compacted-all": {"its transaction was aborted", "a tombstone whose delete.retention.ms is over", "stays, where it was", "所属事务已中止"},
		"loading-records": {"loading, 9 read", "9 / 29", "meanwhile COORDINATOR_LOAD_IN_PROGRESS: JoinGroup ×6", "meanwhile NONE: Heartbeat ×2",
			"加载中，已读 9 条"},
		"loaded": {"read 29 records in 1.2", "1 group, 4 offsets", "owned, epoch 1", "读取 29 条记录"},
		"append-failed": {"NOT_ENOUGH_REPLICAS", "a commit (2 records) not written", "OffsetCommit was answered COORDINATOR_NOT_AVAILABLE (15)",
			"the log does not take what the group writes", "未写入"},
	} {
		scene := sceneNamed(name)
		if scene == nil {
			t.Errorf("there is no scene %s", name)
			continue
		}
		n, text := sceneOf(t, *scene), ""
		for _, lang := range []Lang{English, Chinese} {
			n.Options.Lang = lang
			text += plainOf(stageHTML(t, n.Model, n.Options))
		}
		for _, want := range says {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
	if len(Scenes()) != 11 {
		t.Errorf("%d scenes: this test knows 11", len(Scenes()))
	}
}

// plainOf is what is read of markup: texts and labels, with plain blanks, one between words.
func plainOf(html string) string {
	html = regexp.MustCompile(`<[^>]*aria-label="([^"]*)"[^>]*>`).ReplaceAllString(html, " $1 ")
	html = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " ")
	return strings.Join(strings.Fields(strings.ReplaceAll(html, "\u00a0", " ")), " ")
}
