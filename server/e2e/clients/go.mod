module grouplab/server/e2e/clients

go 1.26.0
