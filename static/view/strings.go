package view

// words are all words of the stage. Names of Kafka's protocol are not translated. {0}, {1} … are filled in.
var words = merge(wordsOfHeadline, wordsOfStage, wordsOfTools, wordsOfKafka, wordsOfLog, wordsOfWhy, wordsOfInspector, wordsOfBranches, wordsOfSandbox)

// pageWord is a word of the shell, which may be one of the stage's too. The program of the tab draws no shell and so does
// not carry wordsOfPages.
func pageWord(key string) Text {
	if t, ok := wordsOfPages[key]; ok {
		return t
	}
	if t, ok := wordsOfPastePage[key]; ok {
		return t
	}
	if t, ok := wordsOfRecordingsPage[key]; ok {
		return t
	}
	return words[key]
}

func merge(tables ...map[string]Text) map[string]Text {
	all := map[string]Text{}
	for _, t := range tables {
		for k, v := range t {
			all[k] = v
		}
	}
	return all
}
