CREATE TABLE share (
  server TEXT NOT NULL,
  id TEXT NOT NULL,
  path TEXT NOT NULL,
  owner TEXT NOT NULL,
  target TEXT NOT NULL,
  uid TEXT NOT NULL,
  gid TEXT,
  access TEXT NOT NULL CHECK (access IN ('READ', 'WRITE', 'MODIFY')),
  one_time INTEGER NOT NULL CHECK (one_time IN (0, 1)),
  uses_left INTEGER CHECK (uses_left >= 0),
  expires INTEGER NOT NULL CHECK (expires >= 0),
  sources TEXT NOT NULL,
  access_count INTEGER NOT NULL CHECK (access_count >= 0),
  created INTEGER NOT NULL,
  last_used INTEGER,
  PRIMARY KEY (server, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX share_by_owner ON share (server, owner);
CREATE INDEX share_by_target ON share (server, target);
CREATE INDEX share_by_path ON share (server, path);
CREATE INDEX share_by_end ON share (expires) WHERE expires > 0;
CREATE TABLE share_use (
  key INTEGER PRIMARY KEY,
  server TEXT NOT NULL,
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  who TEXT NOT NULL,
  address TEXT NOT NULL,
  kind TEXT NOT NULL,
  path TEXT NOT NULL,
  bytes INTEGER,
  complete INTEGER,
  FOREIGN KEY (server, id) REFERENCES share (server, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX share_use_by_share ON share_use (server, id, key);
