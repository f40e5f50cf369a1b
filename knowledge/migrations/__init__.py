"""The store's schema, one SQL file a version: `0001_NAME.sql` takes an empty database to version 1, and so on."""
