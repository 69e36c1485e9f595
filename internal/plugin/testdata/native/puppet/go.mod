module puppet

go 1.25
