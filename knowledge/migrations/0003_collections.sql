-- Collections of documents, each readable by groups. The group * is everybody.
CREATE TABLE collections (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE
);
INSERT INTO collections VALUES (1, 'default');

CREATE TABLE collection_groups (
    collection INTEGER NOT NULL REFERENCES collections (number) ON DELETE CASCADE,
    group_name TEXT NOT NULL,
    PRIMARY KEY (collection, group_name)
) WITHOUT ROWID;
INSERT INTO collection_groups VALUES (1, '*');

-- A content hash and a location count within a collection.
CREATE TABLE new_documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL REFERENCES collections (number),
    id TEXT NOT NULL UNIQUE,
    content_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL, -- of everything that was put in: bytes, question forms, loader, chunker, tokenizer
    title TEXT NOT NULL,
    language TEXT NOT NULL,
    media_type TEXT NOT NULL,
    encoding TEXT,
    pages INTEGER,
    doc_references TEXT NOT NULL, -- JSON
    metadata TEXT NOT NULL,   -- JSON
    expires TEXT,             -- ISO 8601 date, the last day on which it is used
    indexed_at TEXT NOT NULL, -- ISO 8601, UTC
    UNIQUE (collection, content_hash)
);
INSERT INTO new_documents
SELECT number, 1, id, content_hash, fingerprint, title, language, media_type, encoding, pages, doc_references, metadata,
       CASE WHEN date(json_extract(metadata, '$.expires')) = json_extract(metadata, '$.expires')
            THEN json_extract(metadata, '$.expires') END,
       indexed_at
FROM documents;
DROP TABLE documents;
ALTER TABLE new_documents RENAME TO documents;
CREATE INDEX documents_expiring ON documents (expires) WHERE expires IS NOT NULL;

CREATE TABLE new_names (
    collection INTEGER NOT NULL REFERENCES collections (number),
    location TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    PRIMARY KEY (collection, location)
) WITHOUT ROWID;
INSERT INTO new_names SELECT 1, location, document, position FROM names;
DROP TABLE names;
ALTER TABLE new_names RENAME TO names;
CREATE INDEX names_of_document ON names (document);
