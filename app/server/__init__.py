"""What protects a served page: who may do what, the origins, the login and the headers of every response."""
