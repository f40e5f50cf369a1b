"""One module a platform; its name is what `advisor bot NAME` takes."""
