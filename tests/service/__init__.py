"""The service over real sockets: other people's clients, several processes, backups, shutdown."""
