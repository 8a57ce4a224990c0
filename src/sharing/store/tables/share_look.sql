-- A look is stored as a download with a flag: services of the previous version know no other kinds.
ALTER TABLE share_use ADD COLUMN looked INTEGER CHECK (looked IN (0, 1));
ALTER TABLE share_use ADD COLUMN version TEXT;
ALTER TABLE share_use ADD COLUMN visitor TEXT;
