-- Questions by day, for each visitor, session, address and site of the widget; and what tokens are signed with.
CREATE TABLE widget_use (
    day TEXT NOT NULL,
    who TEXT NOT NULL,
    questions INTEGER NOT NULL,
    PRIMARY KEY (day, who)
);

CREATE TABLE widget_secret (
    id INTEGER PRIMARY KEY,
    secret TEXT NOT NULL
);
