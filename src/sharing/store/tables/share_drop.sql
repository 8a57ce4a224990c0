-- `DROP` is stored as WRITE with a flag: the old column permits no other words.
ALTER TABLE share ADD COLUMN note TEXT;
ALTER TABLE share ADD COLUMN password TEXT;
ALTER TABLE share ADD COLUMN upload_only INTEGER NOT NULL DEFAULT 0 CHECK (upload_only IN (0, 1));
ALTER TABLE share ADD COLUMN quota_files INTEGER CHECK (quota_files >= 0);
ALTER TABLE share ADD COLUMN quota_bytes INTEGER CHECK (quota_bytes >= 0);
ALTER TABLE share ADD COLUMN received_files INTEGER NOT NULL DEFAULT 0 CHECK (received_files >= 0);
ALTER TABLE share ADD COLUMN received_bytes INTEGER NOT NULL DEFAULT 0 CHECK (received_bytes >= 0);
