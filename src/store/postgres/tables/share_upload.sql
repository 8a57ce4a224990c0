-- Uploads to shares; see `UploadStore`.
CREATE TABLE share_upload (
  server text COLLATE "C" NOT NULL,
  share text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  uid text NOT NULL,
  gid text,
  part text NOT NULL,
  name text NOT NULL,
  total bigint,
  files bigint NOT NULL,
  bytes bigint NOT NULL,
  target text COLLATE "C",
  kept integer NOT NULL,
  holder text,
  held_until bigint NOT NULL,
  wanted integer NOT NULL,
  touched bigint NOT NULL,
  PRIMARY KEY (server, share, key)
);
CREATE INDEX share_upload_unfinished ON share_upload (server, share) WHERE kept = 0;
CREATE INDEX share_upload_target ON share_upload (server, target) WHERE kept = 0;
CREATE INDEX share_upload_touched ON share_upload (touched);
