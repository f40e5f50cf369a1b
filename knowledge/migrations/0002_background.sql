-- Texts on other subjects (`background.tsv`) as the store's encoder sees them.
CREATE TABLE background (
    language TEXT NOT NULL,
    kind TEXT NOT NULL,       -- passage or question
    vector BLOB NOT NULL,     -- float16
    packed BLOB NOT NULL      -- token vectors of passages
);
