-- Facts about the store itself: store_id, generation, encoder, dimension, snapshot, snapshot_last_chunk.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    content_hash TEXT NOT NULL UNIQUE,
    fingerprint TEXT NOT NULL, -- of everything that was put in: bytes, question forms, loader, chunker, tokenizer
    title TEXT NOT NULL,
    language TEXT NOT NULL,
    media_type TEXT NOT NULL,
    encoding TEXT,
    pages INTEGER,
    doc_references TEXT NOT NULL, -- JSON
    metadata TEXT NOT NULL,   -- JSON
    indexed_at TEXT NOT NULL  -- ISO 8601, UTC
);

-- Apart from documents, so that listing them does not read their text.
CREATE TABLE texts (
    document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
    text TEXT NOT NULL
);

-- Where a document was read from; equal content under several names is one document.
CREATE TABLE names (
    location TEXT PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
    position INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX names_of_document ON names (document);

-- AUTOINCREMENT: a chunk's number is never used again, so a derived index can't point to another passage.
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    text TEXT NOT NULL,       -- of the document from start to end; a document can be much longer than what is shown
    section TEXT NOT NULL,    -- JSON list
    page INTEGER,
    sentences BLOB NOT NULL,  -- int32 pairs of start, end
    questions TEXT NOT NULL,  -- JSON list of question forms
    term_ids BLOB NOT NULL,   -- uint32, ascending
    term_counts BLOB NOT NULL -- uint16, parallel
);
CREATE INDEX chunks_of_document ON chunks (document);

-- kind: 1 paragraph, 2 sentences in order, 3 question forms in order.
CREATE TABLE vectors (
    chunk INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    kind INTEGER NOT NULL,
    "values" BLOB NOT NULL,   -- float16, (n, dimension)
    UNIQUE (chunk, kind)
);

-- Packed token vectors for late interaction.
CREATE TABLE token_vectors (
    chunk INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    packed BLOB NOT NULL
);

CREATE TABLE terms (
    id INTEGER PRIMARY KEY,
    term TEXT NOT NULL UNIQUE
);

-- Chunks that were deleted at a generation and may still stand in the snapshot of the derived index.
CREATE TABLE tombstones (
    chunk INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL
);
