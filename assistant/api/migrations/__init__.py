"""The schema of the API's own tables, one SQL file a version, in the SQL that SQLite and PostgreSQL share."""
