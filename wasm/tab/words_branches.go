package tab

import "grouplab/static/view"

// wordsOfBranches are what the tab says of branches and comparisons.
var wordsOfBranches = map[string]view.Text{
	"branch-head":    {En: "This is the end of the run: whatever you do now goes on from here. Go back first to branch.", Zh: "这里是这条历史的末端：现在做的事会直接接下去。先退回去，再分支。"},
	"branched":       {En: "A new branch begins here; what came later is kept below the timeline.", Zh: "从这里开始一条新分支；后来的部分保留在时间线下面。"},
	"branch-gone":    {En: "There is no such branch any more.", Zh: "这条分支已经不在了。"},
	"branch-went":    {En: "This is the branch: {0}. The one that you left is below the timeline.", Zh: "现在在分支：{0}。离开的那条在时间线下面。"},
	"branch-cut":     {En: "The branch is deleted.", Zh: "分支已删除。"},
	"branch-without": {En: "without “{0}”", Zh: "没有“{0}”"},
	"branch-same":    {En: "went on", Zh: "继续下去"},
	"input-next":     {En: "next step", Zh: "下一步"},
	"input-look":     {En: "looked at the answer", Zh: "看了答案"},
	"input-answer":   {En: "answered “{0}”", Zh: "答了“{0}”"},
	"input-take":     {En: "took over", Zh: "由我操作"},
	"follow":         {En: "Each step now goes to what happens next to this {0}.", Zh: "现在每一步都走到这个 {0} 的下一次变化。"},
	"follow-over":    {En: "Steps follow no timer any more.", Zh: "步进不再跟随定时器。"},
	"follow-gone":    {En: "This timer is not there at this moment.", Zh: "此刻没有这个定时器。"},
	"compare-own":    {En: "There is nothing to compare: this is the run without acts of yours.", Zh: "没有可比较的：这就是没有你操作的运行。"},
	"compare-lesson": {En: "the run without your acts", Zh: "没有你操作的运行"},
	"compare-over":   {En: "The comparison is closed.", Zh: "比较已关闭。"},
}
