package view

// words are all words of the page. Names of Kafka's protocol are not translated. {0}, {1} … are filled in.
var words = merge(wordsOfHeadline, wordsOfStage, wordsOfTools, wordsOfPages, wordsOfKafka, wordsOfLog)

func merge(tables ...map[string]Text) map[string]Text {
	all := map[string]Text{}
	for _, t := range tables {
		for k, v := range t {
			all[k] = v
		}
	}
	return all
}
