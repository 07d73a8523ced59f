"""Results made to look at; the only room that imports matplotlib, and only while it draws."""
