-- Bans and failed logins, unlogged. Names and addresses are digests: people type passwords into the wrong field.
CREATE TABLE operator_ban (
  who_user TEXT NOT NULL,
  who_address TEXT NOT NULL,
  names TEXT NOT NULL,
  ends BIGINT NOT NULL,
  PRIMARY KEY (who_user, who_address)
);
CREATE TABLE operator_lift (
  id TEXT PRIMARY KEY,
  who_user TEXT NOT NULL,
  who_address TEXT NOT NULL,
  ends BIGINT NOT NULL
);
CREATE UNLOGGED TABLE failed_login (
  counted TEXT NOT NULL,
  name TEXT NOT NULL,
  who_user TEXT NOT NULL,
  who_address TEXT NOT NULL,
  failures BIGINT NOT NULL,
  ends BIGINT NOT NULL,
  PRIMARY KEY (counted, name)
);
CREATE INDEX failed_login_by_user ON failed_login (who_user);
CREATE INDEX failed_login_by_address ON failed_login (who_address);
CREATE INDEX failed_login_by_end ON failed_login (ends);
CREATE UNLOGGED TABLE known_login (
  name TEXT PRIMARY KEY,
  seen BIGINT NOT NULL
);
CREATE INDEX known_login_by_time ON known_login (seen);
