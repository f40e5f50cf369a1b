-- Times are ISO 8601 in UTC, so that they compare as text.
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    secret_hash TEXT NOT NULL,  -- SHA-256 of 256 random bits, hexadecimal
    role TEXT NOT NULL,
    scopes TEXT NOT NULL,       -- JSON list
    group_names TEXT NOT NULL,  -- JSON list
    created TEXT NOT NULL,
    expires TEXT,
    revoked TEXT
);

-- Who did what to what, never what was asked. `id` begins with the time, so it orders and pages.
CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    at TEXT NOT NULL,
    who TEXT NOT NULL,
    action TEXT NOT NULL,
    object TEXT NOT NULL,
    status INTEGER NOT NULL,
    address TEXT NOT NULL,
    request_id TEXT NOT NULL
);

-- The answer to a write with an Idempotency-Key; `status` is null while it is being worked on.
CREATE TABLE idempotency (
    owner TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    created TEXT NOT NULL,
    status INTEGER,
    headers TEXT,
    body TEXT,
    PRIMARY KEY (owner, idempotency_key)
);

-- Uploads that are indexed in the background; `files` is a JSON list of reports.
CREATE TABLE ingests (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    collection TEXT NOT NULL,
    files TEXT NOT NULL,
    done INTEGER NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL
);
