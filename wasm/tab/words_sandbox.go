package tab

import "grouplab/static/view"

// wordsOfSandbox are what the sandbox says beside its words on the page.
var wordsOfSandbox = map[string]view.Text{
	"run-copied":          {En: "The run is copied as a script.", Zh: "已把整个过程复制为脚本。"},
	"import-file":         {En: "script", Zh: "脚本"},
	"import-empty":        {En: "There is nothing to open: paste a script, or choose a file.", Zh: "没有可打开的内容：请贴入脚本，或选择文件。"},
	"import-long":         {En: "That text has {0} bytes; at most {1} are read.", Zh: "这段文字有 {0} 字节，最多读取 {1} 字节。"},
	"import-wrong":        {En: "Line {0}, column {1}: {2}. Nothing was changed.", Zh: "第 {0} 行，第 {1} 列：{2}。什么也没有改变。"},
	"import-read":         {En: "The script is open, at its start: {0} commands follow. Play it.", Zh: "脚本已打开，停在开头：后面有 {0} 个命令，可以播放。"},
	"world-new":           {En: "A new world. U returns to the one before.", Zh: "新的场景。按 U 回到之前的。"},
	"world-back":          {En: "Back in the run before.", Zh: "回到了之前的过程。"},
	"world-anew":          {En: "What was done before is not possible in this world: it begins at its start. U brings the other back.", Zh: "之前的操作在这个场景里做不到：从头开始。按 U 可以找回之前的。"},
	"case-shown":          {En: "The wait begins here, and is over {0} later. Play, or step with →.", Zh: "等待从这里开始，{0} 后结束。播放，或按 → 单步。"},
	"case-never":          {En: "This does not come to an end: {0}", Zh: "这不会结束：{0}"},
	"console-wrong":       {En: "Column {0}: {1}", Zh: "第 {0} 列：{1}"},
	"console-done":        {En: "done at {0}", Zh: "已执行，时刻 {0}"},
	"console-built":       {En: "the set-up has it now", Zh: "场景已更新"},
	"console-refused":     {En: "it failed, as it was to: {0}", Zh: "如预期失败：{0}"},
	"console-passed":      {En: "it is {0} now", Zh: "现在是 {0}"},
	"console-far":         {En: "after {0} events it is {1}; say it again to go on", Zh: "过了 {0} 个事件，现在是 {1}；再执行一次可继续"},
	"console-holds":       {En: "it holds at {0}", Zh: "在 {0} 满足"},
	"console-true":        {En: "it holds", Zh: "满足"},
	"console-transcripts": {En: "“{0}” is for transcripts; the page shows everything", Zh: "“{0}” 只用于文字记录；页面会显示全部"},
	"console-help":        {En: "help VERB explains one of: {0}. Beside them there are undo, clear, and help.", Zh: "help VERB 解释其中之一：{0}。另有 undo、clear 和 help。"},
	"draft-name":          {En: "A lesson’s folder is two digits, a dash and small letters, as in 22-my-lesson; not “{0}”.", Zh: "课程文件夹是两位数字、短横线和小写字母，例如 22-my-lesson；不能是“{0}”。"},
	"draft-nothing":       {En: "Nothing was done in this run yet: a lesson needs something that happens.", Zh: "这个过程还没有任何操作：课程里得发生点什么。"},
	"draft-made":          {En: "The draft is made: three files.", Zh: "草稿已生成：三个文件。"},
}
