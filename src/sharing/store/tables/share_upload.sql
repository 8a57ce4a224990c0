CREATE TABLE share_upload (
  server TEXT NOT NULL,
  share TEXT NOT NULL,
  key TEXT NOT NULL,
  uid TEXT NOT NULL,
  gid TEXT,
  part TEXT NOT NULL,
  name TEXT NOT NULL,
  total INTEGER,
  files INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  target TEXT,
  kept INTEGER NOT NULL,
  holder TEXT,
  held_until INTEGER NOT NULL,
  wanted INTEGER NOT NULL,
  touched INTEGER NOT NULL,
  PRIMARY KEY (server, share, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX share_upload_unfinished ON share_upload (server, share) WHERE kept = 0;
CREATE INDEX share_upload_target ON share_upload (server, target) WHERE kept = 0;
CREATE INDEX share_upload_touched ON share_upload (touched);
