-- Write time of a known login, which may be long after the login; other instances poll by it.
ALTER TABLE known_login ADD COLUMN told BIGINT NOT NULL DEFAULT 0;
CREATE INDEX known_login_by_telling ON known_login (told);
