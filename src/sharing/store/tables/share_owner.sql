-- Existing shares have no record of their creation. Indexes serve lists that are read in parts.
ALTER TABLE share ADD COLUMN owner_dn TEXT;
ALTER TABLE share ADD COLUMN owner_via TEXT;
ALTER TABLE share ADD COLUMN owner_login TEXT;
ALTER TABLE share ADD COLUMN owner_uid TEXT;
ALTER TABLE share ADD COLUMN mapped_account INTEGER CHECK (mapped_account IN (0, 1));
ALTER TABLE share ADD COLUMN mapped_role INTEGER CHECK (mapped_role IN (0, 1));
ALTER TABLE share ADD COLUMN made_at_home INTEGER CHECK (made_at_home IN (0, 1));
ALTER TABLE share ADD COLUMN made_includes TEXT;
ALTER TABLE share ADD COLUMN made_excludes TEXT;
ALTER TABLE share ADD COLUMN renewals INTEGER NOT NULL DEFAULT 0 CHECK (renewals >= 0);
DROP INDEX share_by_owner;
DROP INDEX share_by_target;
DROP INDEX share_by_path;
CREATE INDEX share_by_path ON share (server, path, target);
CREATE INDEX share_by_owner ON share (server, owner, created, id);
CREATE INDEX share_by_target ON share (server, target, created, id);
CREATE INDEX share_used_up ON share (last_used) WHERE uses_left = 0;
