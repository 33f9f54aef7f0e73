module wrong

go 1.25.0
