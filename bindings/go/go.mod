module umbel

go 1.19
